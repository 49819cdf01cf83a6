use idem::idempotent;

#[async_trait::async_trait]
trait Ship {
    #[idempotent(key = order_id)]
    async fn ship(&self, order_id: u64) -> Result<u64, idem::Error> {
        Ok(order_id)
    }
}

fn main() {}

use idem::idempotent;

#[async_trait::async_trait]
trait Pay {
    #[idempotent(name = "orders.pay", key = (amount, self.shop()))]
    async fn pay(&self, amount: f64) -> Result<u64, idem::Error> {
        Ok(self.shop())
    }

    fn shop(&self) -> u64;
}

fn main() {}

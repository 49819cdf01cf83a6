use idem::idempotent;

struct Orders;

impl Orders {
    const WEIGHT: u64 = 3;

    #[idempotent(key = order_id)]
    async fn weigh(order_id: u64) -> Result<u64, idem::Error> {
        Ok(order_id * Self::WEIGHT)
    }
}

fn main() {}

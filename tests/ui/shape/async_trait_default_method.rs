#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[async_trait::async_trait]
trait Ship: Send + Sync {
    fn shop(&self) -> u64;

    #[idempotent(name = "orders.ship", key = (self.shop(), id))]
    async fn ship(&self, id: u64) -> Result<u64, Error> {
        support::ran();
        Ok(self.shop() + id)
    }
}

struct Orders;

impl Ship for Orders {
    fn shop(&self) -> u64 {
        1
    }
}

fn main() {
    let orders: Box<dyn Ship> = Box::new(Orders);
    support::runs_once(8, async || orders.ship(7).await);
}

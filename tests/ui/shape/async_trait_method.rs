#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[async_trait::async_trait]
trait Ship {
    async fn ship(&self, id: u64) -> Result<u64, Error>;
}

struct Orders(u64);

#[async_trait::async_trait]
impl Ship for Orders {
    #[idempotent(name = "orders.ship", key = (self.0, id))]
    async fn ship(&self, id: u64) -> Result<u64, Error> {
        support::ran();
        Ok(self.0 + id)
    }
}

fn main() {
    let orders: Box<dyn Ship> = Box::new(Orders(1));
    support::runs_once(8, async || orders.ship(7).await);
}

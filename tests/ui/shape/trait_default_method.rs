#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[allow(async_fn_in_trait)]
trait Ship {
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
    support::runs_once(8, async || Orders.ship(7).await);
}

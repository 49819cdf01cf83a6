#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[allow(async_fn_in_trait)]
trait Ship {
    async fn ship(&self, id: u64) -> Result<u64, Error>;
}

struct Orders;

impl Ship for Orders {
    #[idempotent(name = "orders.ship", key = id)]
    async fn ship(&self, id: u64) -> Result<u64, Error> {
        support::ran();
        Ok(id)
    }
}

fn main() {
    support::runs_once(7, async || Orders.ship(7).await);
}

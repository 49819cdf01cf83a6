#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

async fn outer(id: u64) -> Result<u64, Error> {
    #[idempotent(name = "orders.ship", key = id)]
    async fn ship(id: u64) -> Result<u64, Error> {
        support::ran();
        Ok(id)
    }
    ship(id + 1).await
}

fn main() {
    support::runs_once(8, async || outer(7).await);
}

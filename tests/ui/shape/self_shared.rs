#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

struct Orders {
    shop: u64,
}

impl Orders {
    #[idempotent(name = "orders.ship", key = id)]
    async fn ship(&self, id: u64) -> Result<u64, Error> {
        support::ran();
        Ok(self.shop + id)
    }
}

fn main() {
    let orders = Orders { shop: 1 };
    support::runs_once(8, async || orders.ship(7).await);
}

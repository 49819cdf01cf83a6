#[path = "../support.rs"]
mod support;

use std::sync::Arc;

use idem::{Error, idempotent};

struct Orders {
    shop: u64,
}

impl Orders {
    #[idempotent(name = "orders.ship", key = (self.shop, id))]
    async fn ship(self: Arc<Self>, id: u64) -> Result<u64, Error> {
        support::ran();
        Ok(self.shop + id)
    }
}

fn main() {
    let orders = Arc::new(Orders { shop: 1 });
    support::runs_once(8, async || Arc::clone(&orders).ship(7).await);
}

#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

struct Orders {
    shop: u64,
}

impl Orders {
    #[idempotent(name = "orders.close", key = self.shop)]
    async fn close(self: Box<Self>) -> Result<u64, Error> {
        support::ran();
        Ok(self.shop)
    }
}

fn main() {
    support::runs_once(1, async || Box::new(Orders { shop: 1 }).close().await);
}

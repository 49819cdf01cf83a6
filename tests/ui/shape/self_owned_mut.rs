#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

struct Orders {
    shop: u64,
}

impl Orders {
    #[idempotent(name = "orders.close", key = self.shop)]
    async fn close(mut self) -> Result<u64, Error> {
        support::ran();
        self.shop += 1;
        Ok(self.shop)
    }
}

fn main() {
    support::runs_once(2, async || Orders { shop: 1 }.close().await);
}

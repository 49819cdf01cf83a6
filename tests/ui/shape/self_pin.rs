#[path = "../support.rs"]
mod support;

use std::pin::Pin;

use idem::{Error, idempotent};

struct Orders {
    shop: u64,
}

impl Orders {
    #[idempotent(name = "orders.ship", key = id)]
    async fn ship(mut self: Pin<&mut Self>, id: u64) -> Result<u64, Error> {
        support::ran();
        self.shop += id;
        Ok(self.shop)
    }
}

fn main() {
    let mut orders = Orders { shop: 1 };
    support::runs_once(8, async || Pin::new(&mut orders).ship(7).await);
}

#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

struct Orders {
    shop: u64,
}

impl Orders {
    #[idempotent(name = "orders.ship", key = id)]
    async fn ship(&mut self, id: u64) -> Result<u64, Error> {
        support::ran();
        self.shop += id;
        Ok(self.shop)
    }
}

fn main() {
    let mut orders = Orders { shop: 1 };
    support::runs_once(8, async || orders.ship(7).await);
    assert_eq!(orders.shop, 8);
}

#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

struct Orders {
    shop: u64,
}

impl Orders {
    const FEE: u64 = 100;

    fn fee() -> u64 {
        Self::FEE
    }

    #[idempotent(name = "orders.open", key = (Self::FEE, shop))]
    async fn open(shop: u64) -> Result<u64, Error> {
        support::ran();
        let orders = Self { shop };
        Ok(orders.shop + Self::fee())
    }
}

fn main() {
    support::runs_once(107, async || Orders::open(7).await);
}

#![deny(warnings)]

#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

mod orders {
    use super::{Error, idempotent, support};

    pub(crate) struct Orders;

    impl Orders {
        #[idempotent(name = "orders.ship", key = id)]
        pub(in crate::orders) async fn inner(&self, id: u64) -> Result<u64, Error> {
            support::ran();
            Ok(id)
        }
    }

    #[idempotent(key = id)]
    pub(crate) async fn ship(id: u64) -> Result<u64, Error> {
        Orders.inner(id).await
    }
}

fn main() {
    support::runs_once(7, async || orders::ship(7).await);
}

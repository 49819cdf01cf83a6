#[path = "../support.rs"]
mod support;

use idem::{Error, ErrorKind, IdempotencyKey, idempotent};

#[derive(IdempotencyKey)]
struct Order {
    #[idem(key)]
    id: u64,
    cents: u64,
}

impl Order {
    #[idempotent(name = "orders.pay", key = self)]
    async fn pay(&self) -> Result<u64, Error> {
        support::ran();
        Ok(self.cents)
    }
}

fn main() {
    let order = |cents| Order { id: 1, cents };
    support::runs_once(5, async || order(5).pay().await);
    support::runs_once(5, async || {
        let first = order(5).pay().await;
        assert_eq!(order(6).pay().await.unwrap_err().kind(), ErrorKind::Mismatch);
        first
    });
}

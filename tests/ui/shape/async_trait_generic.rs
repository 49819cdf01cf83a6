#[path = "../support.rs"]
mod support;

use std::fmt::Display;

use idem::{Error, IdempotencyKey, idempotent};
use serde::Serialize;

#[async_trait::async_trait]
trait Ship<T> {
    async fn ship<'a, K>(&'a self, id: K, value: &'a T) -> Result<String, Error>
    where
        K: IdempotencyKey + Display + Send + Sync + 'a;
}

struct Orders;

#[async_trait::async_trait]
impl<T: Serialize + Display + Sync> Ship<T> for Orders {
    #[idempotent(name = "orders.ship", key = id)]
    async fn ship<'a, K>(&'a self, id: K, value: &'a T) -> Result<String, Error>
    where
        K: IdempotencyKey + Display + Send + Sync + 'a,
    {
        support::ran();
        Ok(format!("{id} {value}"))
    }
}

fn main() {
    support::runs_once("7 x".to_owned(), async || Orders.ship(7, &'x').await);
}

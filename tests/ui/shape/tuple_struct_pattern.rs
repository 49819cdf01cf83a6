#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

struct OrderId(u64);

#[idempotent(key = id)]
async fn ship(OrderId(id): OrderId) -> Result<u64, Error> {
    support::ran();
    Ok(id)
}

fn main() {
    support::runs_once(7, async || ship(OrderId(7)).await);
}

#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

type Reply<T, E = Error> = Result<T, E>;
type Count = Reply<u64>;

#[idempotent(key = id)]
async fn ship(id: u64) -> Count {
    support::ran();
    Ok(id)
}

fn main() {
    support::runs_once(7, async || ship(7).await);
}

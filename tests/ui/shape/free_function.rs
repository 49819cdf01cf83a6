#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[idempotent(key = id)]
async fn ship(id: u64) -> Result<u64, Error> {
    support::ran();
    Ok(id)
}

fn main() {
    support::runs_once(7, async || ship(7).await);
}

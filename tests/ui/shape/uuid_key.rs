#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};
use uuid::Uuid;

#[idempotent(key = id)]
async fn ship(id: Uuid) -> Result<u64, Error> {
    support::ran();
    Ok(id.as_u64_pair().1)
}

fn main() {
    support::runs_once(7, async || ship(Uuid::from_u128(7)).await);
}

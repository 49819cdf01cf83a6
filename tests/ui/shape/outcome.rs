#[path = "../support.rs"]
mod support;

use idem::{Error, Outcome, idempotent};

#[idempotent(key = id)]
async fn ship(id: u64) -> Result<Outcome<u64>, Error> {
    support::ran();
    Ok(id.into())
}

fn main() {
    support::runs_once(7, async || ship(7).await.map(Outcome::into_inner));
}

#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[idempotent(key = id)]
async fn ship(id: u64) -> Result<(), Error> {
    support::ran();
    let _ = id;
    Ok(())
}

fn main() {
    support::runs_once((), async || ship(7).await);
}

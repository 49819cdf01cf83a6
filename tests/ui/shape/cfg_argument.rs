#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[idempotent(key = id)]
async fn ship(#[cfg(any())] absent: Absent, id: u64, #[cfg(not(any()))] present: u64) -> Result<u64, Error> {
    support::ran();
    Ok(id + present)
}

fn main() {
    support::runs_once(8, async || ship(7, 1).await);
}

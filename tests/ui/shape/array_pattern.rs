#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[idempotent(key = (first, last))]
async fn ship([first, .., last]: [u64; 4]) -> Result<u64, Error> {
    support::ran();
    Ok(first + last)
}

fn main() {
    support::runs_once(5, async || ship([1, 2, 3, 4]).await);
}

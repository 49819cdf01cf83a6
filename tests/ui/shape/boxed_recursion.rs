#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[idempotent(key = depth)]
async fn descend(depth: u64) -> Result<u64, Error> {
    if depth == 0 {
        support::ran();
        return Ok(0);
    }
    Ok(1 + Box::pin(descend(depth - 1)).await?)
}

fn main() {
    support::runs_once(3, async || descend(3).await);
}

#![deny(warnings)]

#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[must_use = "or nobody knows"]
#[idempotent(key = id)]
async fn ship(id: u64) -> Result<u64, Error> {
    support::ran();
    Ok(id)
}

fn main() {
    #[expect(unused_must_use)]
    {
        ship(1);
    }
    support::runs_once(7, async || ship(7).await);
}

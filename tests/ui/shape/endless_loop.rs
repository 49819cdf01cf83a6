#![deny(warnings)]

#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[idempotent(key = id)]
async fn ship(id: u64) -> Result<u64, Error> {
    support::ran();
    let mut tries = 0;
    loop {
        tries += 1;
        tokio::task::yield_now().await;
        if tries == 3 {
            return Ok(id + tries);
        }
    }
}

fn main() {
    support::runs_once(10, async || ship(7).await);
}

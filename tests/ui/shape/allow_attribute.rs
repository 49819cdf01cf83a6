#![deny(warnings)]

#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[allow(unused_variables, unused_mut)]
#[idempotent(key = id)]
async fn ship(mut id: u64, #[allow(unused_mut)] mut note: u64) -> Result<u64, Error> {
    support::ran();
    let unused = 1;
    Ok(id + note)
}

fn main() {
    support::runs_once(8, async || ship(7, 1).await);
}

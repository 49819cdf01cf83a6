#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[idempotent(key = (shop, id))]
async fn ship((shop, (mut id, _)): (u64, (u64, u64))) -> Result<u64, Error> {
    support::ran();
    id += shop;
    Ok(id)
}

fn main() {
    support::runs_once(3, async || ship((1, (2, 9))).await);
}

#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};
use serde::{Serialize, de::DeserializeOwned};

#[idempotent(key = id)]
async fn ship<T: Serialize + DeserializeOwned>(id: u64, value: T) -> Result<T, Error> {
    support::ran();
    Ok(value)
}

fn main() {
    support::runs_once(Some(1), async || ship(7, Some(1)).await);
}

#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};
use serde::{Serialize, de::DeserializeOwned};

#[idempotent(key = id)]
async fn ship(id: u64) -> Result<impl Serialize + DeserializeOwned + Into<u64>, Error> {
    support::ran();
    Ok(u32::try_from(id).unwrap_or_default())
}

fn main() {
    support::runs_once(7_u64, async || ship(7).await.map(Into::into));
}

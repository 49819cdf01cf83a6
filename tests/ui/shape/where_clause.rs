#[path = "../support.rs"]
mod support;

use idem::{Error, IdempotencyKey, idempotent};
use serde::Serialize;

#[idempotent(key = id)]
async fn ship<K, V>(id: K, values: V) -> Result<usize, Error>
where
    K: IdempotencyKey,
    V: AsRef<[u8]> + Serialize,
{
    support::ran();
    Ok(values.as_ref().len())
}

fn main() {
    support::runs_once(2, async || ship(7, vec![1, 2]).await);
}

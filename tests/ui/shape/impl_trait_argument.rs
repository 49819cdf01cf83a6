#[path = "../support.rs"]
mod support;

use idem::{Error, IdempotencyKey, idempotent};
use serde::Serialize;

#[idempotent(key = id)]
async fn ship(id: impl IdempotencyKey + Into<String>, note: impl Serialize + Into<String>) -> Result<String, Error> {
    support::ran();
    Ok(id.into() + &note.into())
}

fn main() {
    support::runs_once("ab".to_owned(), async || ship("a", "b").await);
}

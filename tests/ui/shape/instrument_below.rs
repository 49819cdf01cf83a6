#![deny(warnings)]

#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[idempotent(key = id)]
#[tracing::instrument(skip_all, fields(id = id))]
async fn ship(id: u64, note: &str) -> Result<usize, Error> {
    support::ran();
    tracing::info!("shipping");
    Ok(note.len())
}

fn main() {
    support::runs_once(1, async || ship(7, "x").await);
}

//! Documentation stays where it is.
#![deny(missing_docs)]

#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

/// Ships.
///
/// Once.
#[doc(alias = "send")]
#[idempotent(key = id)]
/// Really.
pub async fn ship(id: u64) -> Result<u64, Error> {
    //! Never twice.
    support::ran();
    Ok(id)
}

fn main() {
    support::runs_once(7, async || ship(7).await);
}

//! The suite that every [`Store`] must pass, a file per verb (feature `conformance`).
//!
//! Each scenario works on identities of its own, so that a store may be shared and need not be empty. Leases are real and
//! short: a run takes a few seconds, or none on a store that follows a paused tokio clock. A scenario that fails panics
//! and says what was promised.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
//! idem_core::conformance::all(&idem_core::MemoryStore::new()).await;
//! # }
//! ```

pub mod claim;
pub mod complete;
pub mod forget;
pub mod inspect;
mod intent;
pub mod release;
pub mod renew;
pub mod settle;

pub use intent::Intent;

use crate::store::Store;

/// Every scenario of every verb.
///
/// # Panics
///
/// If the store breaks a promise.
pub async fn all(store: &impl Store) {
    claim::all(store).await;
    renew::all(store).await;
    complete::all(store).await;
    release::all(store).await;
    settle::all(store).await;
    forget::all(store).await;
    inspect::all(store).await;
}

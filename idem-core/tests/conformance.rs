//! The suite on the store that runs the protocol itself.
#![cfg(feature = "conformance")]

use idem_core::{MemoryStore, conformance};

#[tokio::test(start_paused = true)]
async fn the_memory_store_keeps_every_promise_of_a_store() {
    conformance::all(&MemoryStore::new()).await;
}

#[tokio::test]
async fn and_on_a_clock_that_nobody_paused() {
    conformance::all(&MemoryStore::new()).await;
}

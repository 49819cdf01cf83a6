//! What an annotated function's future weighs: it is held for as long as the call runs, and moved with every future around.
#![cfg(feature = "macros")]

use idem::{Error, idempotent};

#[idempotent(key = id)]
async fn with_a_large_local(id: u64) -> Result<u64, Error> {
    let local = [u8::try_from(id).unwrap_or_default(); 4096];
    tokio::task::yield_now().await;
    Ok(local.iter().map(|byte| u64::from(*byte)).sum())
}

#[idempotent(key = id)]
async fn with_nothing(id: u64) -> Result<u64, Error> {
    Ok(id)
}

#[idempotent(key = id, detach)]
async fn detached(id: u64) -> Result<u64, Error> {
    let local = [u8::try_from(id).unwrap_or_default(); 4096];
    tokio::task::yield_now().await;
    Ok(local.iter().map(|byte| u64::from(*byte)).sum())
}

#[test]
fn a_future_holds_its_body_once_and_little_more() {
    let (large, small) = (size_of_val(&with_a_large_local(1)), size_of_val(&with_nothing(1)));
    println!(
        "4 KiB across an await: {large} bytes; an empty body: {small} bytes; detached: {}",
        size_of_val(&detached(1))
    );
    assert!(large <= 5 * 1024, "{large}");
    assert!(small <= 640, "{small}");
}

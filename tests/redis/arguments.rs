//! The same key with other arguments, in every state of the record.

use std::sync::Arc;
use std::time::Duration;

use idem::{Engine, Error, ErrorKind};
use tokio::sync::Barrier;

use crate::support::{engine, kind, server};

async fn call(engine: &Engine, key: &str, payload: u32, busy: Duration) -> Result<u32, Error> {
    let operation = engine.operation("pay").key(key).fingerprint(&payload);
    operation
        .run(async |_| {
            tokio::time::sleep(busy).await;
            Ok(payload)
        })
        .await
}

/// Case O-30: a caller with other arguments must not be told to try again later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_racing_payloads_one_runs_and_the_other_mismatches() {
    let server = server();
    let engines = [engine(&server), engine(&server)];
    for round in 0..100 {
        let barrier = Arc::new(Barrier::new(2));
        let racer = |payload: u32| {
            let (engine, barrier) = (engines[payload as usize].clone(), Arc::clone(&barrier));
            tokio::spawn(async move {
                barrier.wait().await;
                call(&engine, &format!("race {round}"), payload, Duration::from_millis(5)).await
            })
        };
        let (a, b) = tokio::join!(racer(0), racer(1));
        let (a, b) = (a.expect("no panic"), b.expect("no panic"));
        let refused = if a.is_ok() { b } else { a };
        assert_eq!(kind(refused), ErrorKind::Mismatch);
    }
}

/// Case O-29: the fingerprint survives every state.
#[tokio::test]
async fn the_fingerprint_is_compared_in_flight_released_taken_over_and_settled() {
    let server = server();
    let engine = engine(&server);

    let busy = call(&engine, "a", 1, Duration::from_millis(50));
    let others = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(kind(call(&engine, "a", 1, Duration::ZERO).await), ErrorKind::InFlight);
        assert_eq!(kind(call(&engine, "a", 2, Duration::ZERO).await), ErrorKind::Mismatch);
    };
    let (first, ()) = tokio::join!(busy, others);
    assert_eq!(first.unwrap(), 1);
    assert_eq!(kind(call(&engine, "a", 2, Duration::ZERO).await), ErrorKind::Mismatch);
    assert_eq!(call(&engine, "a", 1, Duration::ZERO).await.unwrap(), 1);

    let failing = engine.operation("pay").key("b").fingerprint(&1_u32);
    let failed: Result<u32, Box<dyn std::error::Error>> = failing.run(async |_| Err("declined".into())).await;
    assert_eq!(failed.unwrap_err().to_string(), "declined");
    assert_eq!(kind(call(&engine, "b", 2, Duration::ZERO).await), ErrorKind::Mismatch);
    assert_eq!(call(&engine, "b", 1, Duration::ZERO).await.unwrap(), 1);

    let dropped = tokio::time::timeout(Duration::from_millis(20), call(&engine, "c", 1, Duration::from_secs(9)));
    dropped.await.expect_err("dropped in its body");
    tokio::time::sleep(crate::support::LEASE + Duration::from_millis(50)).await;
    assert_eq!(kind(call(&engine, "c", 2, Duration::ZERO).await), ErrorKind::Mismatch);
    assert_eq!(call(&engine, "c", 1, Duration::ZERO).await.unwrap(), 1);
}

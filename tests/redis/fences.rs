//! Fences: each claim's is above all earlier ones, whatever came in between.

use std::time::Duration;

use idem::{Engine, Error, ErrorKind, Fence, Policy};

use crate::actors::{KEY, job};
use crate::support::{engine, engine_with, server, value};
use crate::trouble::eventually;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Calls until it runs, and ends as `ends` does; the fence it had, or `None` if it did not come to its end.
async fn fence(engine: &Engine, ends: impl AsyncFn() -> Result<(), Failure>) -> Option<Fence> {
    loop {
        let mut fence = None;
        let call = job(engine).run(async |attempt| {
            fence = Some(attempt.fence());
            ends().await
        });
        // Ends that never come are dropped.
        let ended = tokio::time::timeout(Duration::from_millis(50), call).await;
        if fence.is_some() {
            return fence;
        }
        let refused = ended.ok()?.expect_err("it did not run");
        let refused = Error::find(&*refused).expect("an error of idem").kind();
        assert!(matches!(refused, ErrorKind::InFlight | ErrorKind::Store(_)), "{refused:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Case O-07.
#[tokio::test]
async fn fences_rise_over_every_end_of_a_claim() {
    let server = server();
    let policy = Policy::new().lease(Policy::MIN_LEASE).retention(Duration::from_millis(30));
    let engine = engine_with(&server, policy);
    let mut fences = Vec::new();
    while fences.len() < 50 {
        let claimed = match fences.len() % 5 {
            0 => fence(&engine, async || Err("released".into())).await,
            1 => fence(&engine, async || std::future::pending().await).await,
            2 => {
                let completed = fence(&engine, async || Ok(())).await;
                eventually("expired", || value(&server, KEY).is_none()).await;
                completed
            }
            3 => {
                server.command(&["SCRIPT", "FLUSH"]).expect("SCRIPT FLUSH");
                fence(&engine, async || Err("released".into())).await
            }
            _ => {
                server.command(&["CLIENT", "KILL", "TYPE", "normal"]).expect("CLIENT KILL");
                fence(&engine, async || Err("released".into())).await
            }
        };
        fences.extend(claimed);
    }
    assert!(fences.is_sorted_by(|a, b| a < b), "{fences:?}");
}

/// Case O-07: a number that a double cannot hold.
#[tokio::test]
async fn fences_above_two_to_the_53rd_are_exact() {
    let server = server();
    let engine = engine(&server);
    let released = async || fence(&engine, async || Err("released".into())).await.expect("it ran").get();
    released().await;
    let seed = (1_u64 << 53) + 1;
    let text = Fence::new(seed).to_text();
    server.command(&[&b"SETRANGE"[..], KEY.as_bytes(), b"4", &text]).expect("SETRANGE");
    assert_eq!([released().await, released().await], [seed + 1, seed + 2]);
}

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use idem::{Engine, idempotent};

static RUNS: AtomicU32 = AtomicU32::new(0);

#[derive(Debug, thiserror::Error)]
enum OrderError {
    #[error("no key")]
    NoKey,
    #[error("no such order")]
    Unknown,
    #[error(transparent)]
    Idem(#[from] idem::Error),
}

#[idempotent(key = id.ok_or(OrderError::NoKey)?)]
async fn find(id: Option<u8>, orders: &[u8]) -> Result<usize, OrderError> {
    RUNS.fetch_add(1, SeqCst);
    let id = id.ok_or(OrderError::NoKey)?;
    for (at, order) in orders.iter().enumerate() {
        if *order == id {
            return Ok(at);
        }
    }
    Err(OrderError::Unknown)
}

#[idempotent(key = depth)]
async fn descend(depth: u8) -> Result<u8, idem::Error> {
    RUNS.fetch_add(1, SeqCst);
    if depth == 0 {
        return Ok(0);
    }
    Ok(1 + Box::pin(descend(depth - 1)).await?)
}

#[idempotent(key = id)]
async fn later(id: u8) -> Result<u8, OrderError> {
    todo!()
}

#[idempotent(key = id)]
async fn forever(id: u8) -> Result<u8, OrderError> {
    loop {
        tokio::task::yield_now().await;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    idem::with_engine(Engine::in_memory(), async {
        assert!(matches!(find(None, &[1]).await, Err(OrderError::NoKey)));
        assert_eq!(RUNS.load(SeqCst), 0, "a key that fails runs nothing");

        for _ in 0..2 {
            assert_eq!(find(Some(4), &[5, 4]).await.unwrap(), 1);
        }
        assert_eq!(RUNS.load(SeqCst), 1);

        for _ in 0..2 {
            assert!(matches!(find(Some(9), &[5, 4]).await, Err(OrderError::Unknown)));
        }
        assert_eq!(RUNS.load(SeqCst), 3, "an error is not kept");
        assert!(matches!(find(Some(4), &[]).await, Err(OrderError::Idem(_))), "other arguments");

        for _ in 0..2 {
            assert_eq!(descend(3).await.unwrap(), 3);
        }
        assert_eq!(RUNS.load(SeqCst), 7);
    })
    .await;
    let _ = (later, forever);
}

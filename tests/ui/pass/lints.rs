//! The expansion adds no lint of its own, and what is said of the function stays said of it.
#![deny(warnings, unused, unused_qualifications, missing_docs, unreachable_pub)]
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use idem::{Engine, Error, idempotent};

static RUNS: AtomicU32 = AtomicU32::new(0);

/// Documented.
#[must_use = "or nothing happens"]
#[deprecated = "use another"]
#[idempotent(key = id, skip(log))]
#[rustfmt::skip] // a block of one short line is what `unused_braces` looks for
async fn short(id: u8, log: &mut Vec<u8>) -> Result<(), Error> { Ok(log.push(id)) }

#[idempotent(key = id)]
async fn conditional(
    id: u8,
    #[cfg(any())] absent: Absent,
    #[cfg(not(any()))] present: u8,
    #[allow(unused_variables)] unused: u8,
) -> Result<u8, Error> {
    RUNS.fetch_add(1, SeqCst);
    Ok(id + present)
}

#[idempotent(key = id, skip_all)]
async fn inner_attribute(id: u8, _unused: Engine) -> Result<u8, Error> {
    #![allow(unused_variables)]
    let nothing = 1;
    Ok(id)
}

#[idempotent(key = id)]
async fn unfinished(id: u8) -> Result<u8, Error> {
    unimplemented!("another day")
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut log = Vec::new();
    idem::with_engine(Engine::in_memory(), async {
        for _ in 0..2 {
            #[allow(deprecated)]
            short(1, &mut log).await.unwrap();
            assert_eq!(conditional(1, 2, 3).await.unwrap(), 3);
            assert_eq!(inner_attribute(1, Engine::in_memory()).await.unwrap(), 1);
        }
        assert_eq!(RUNS.load(SeqCst), 1);
    })
    .await;
    assert_eq!(log, [1]);
    let _ = unfinished;
}

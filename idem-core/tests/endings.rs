//! How calls end when something gives way at an awkward moment: a panic, a caller that leaves, a store that panics.

#[macro_use]
#[path = "support/rest.rs"]
mod rest;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use idem_core::store::{
    Claim, ClaimReply, Complete, CompleteReply, Release, ReleaseReply, Renew, RenewReply, StoreError,
};
use idem_core::{Attempt, Call, Engine, Error, ErrorKind, MemoryStore, Policy, Store};

const LEASE: Duration = Duration::from_millis(600);

/// A store in memory that answers slowly, or panics.
#[derive(Debug, Default)]
struct Awkward {
    memory: MemoryStore,
    panics: AtomicBool,
    slow: AtomicBool,
    renewals: AtomicU32,
}

#[derive(Debug, Clone, Default)]
struct Shared(Arc<Awkward>);

impl Shared {
    async fn delay(&self) {
        if self.0.slow.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Store for Shared {
    async fn claim(&self, request: &Claim) -> Result<ClaimReply, StoreError> {
        Store::claim(&self.0.memory, request).await
    }

    async fn renew(&self, request: &Renew) -> Result<RenewReply, StoreError> {
        self.0.renewals.fetch_add(1, Ordering::SeqCst);
        assert!(!self.0.panics.swap(false, Ordering::SeqCst), "the store panics");
        Store::renew(&self.0.memory, request).await
    }

    async fn complete(&self, request: &Complete) -> Result<CompleteReply, StoreError> {
        self.delay().await;
        Store::complete(&self.0.memory, request).await
    }

    async fn release(&self, request: &Release) -> Result<ReleaseReply, StoreError> {
        self.delay().await;
        Store::release(&self.0.memory, request).await
    }

    rest_as!(memory);
}

fn engine(store: &Shared) -> Engine {
    Engine::builder(store.clone()).policy(Policy::new().lease(LEASE)).build().expect("a valid policy")
}

fn job(engine: &Engine) -> Call {
    engine.operation("job").key("k").fingerprint(&())
}

/// What the next call finds: the attempt it is, or how it is refused.
async fn next(engine: &Engine) -> Result<(u32, bool), ErrorKind> {
    let call = job(engine).run(async |attempt: Attempt| Ok::<_, Error>((attempt.number(), attempt.is_takeover())));
    call.await.map_err(|error| error.kind())
}

/// What stands before a closure's first await is part of the body: an effect there may have happened.
#[tokio::test(start_paused = true)]
async fn a_panic_before_the_first_await_counts_as_a_crash_and_not_as_nothing() {
    let engine = engine(&Shared::default());
    let panics = |_: Attempt| -> std::future::Ready<Result<(), Error>> { panic!("after the effect") };
    AssertUnwindSafe(job(&engine).run(panics)).catch_unwind().await.expect_err("it passes");
    assert_eq!(next(&engine).await, Err(ErrorKind::InFlight));
    tokio::time::sleep(LEASE + Duration::from_millis(10)).await;
    assert_eq!(next(&engine).await, Ok((2, true)));
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_leaves_while_its_result_is_recorded_costs_nothing() {
    let store = Shared::default();
    let engine = engine(&store);
    store.0.slow.store(true, Ordering::SeqCst);
    let call = job(&engine).run(async |_| Ok::<_, Error>((7, false)));
    tokio::time::timeout(Duration::from_millis(10), call).await.expect_err("the caller left");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(next(&engine).await, Ok((7, false)), "replayed: the keeper recorded it");
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_leaves_during_the_release_leaves_the_key_free() {
    let store = Shared::default();
    let engine = engine(&store);
    store.0.slow.store(true, Ordering::SeqCst);
    let call = job(&engine).run(async |_| Err::<(), _>(Box::<dyn std::error::Error>::from("declined")));
    tokio::time::timeout(Duration::from_millis(10), call).await.expect_err("the caller left");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(next(&engine).await, Ok((2, false)), "released: the keeper sent it");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_panics_once_ends_no_renewals() {
    let store = Shared::default();
    let engine = engine(&store);
    store.0.panics.store(true, Ordering::SeqCst);
    let lost = job(&engine).run(async |attempt| {
        tokio::select! {
            _ = attempt.lost() => Ok::<_, Error>(true),
            () = tokio::time::sleep(LEASE * 5) => Ok(false),
        }
    });
    assert!(!lost.await.expect("executed"));
    assert!(store.0.renewals.load(Ordering::SeqCst) > 10);
}

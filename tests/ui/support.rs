//! What every shape is put through: executed once, then replayed.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

static RUNS: AtomicU32 = AtomicU32::new(0);

/// Called by the body that is to run once.
pub fn ran() {
    RUNS.fetch_add(1, SeqCst);
}

/// Calls twice on one engine: both calls give `expected`, and the body runs for the first only.
pub fn runs_once<T: PartialEq + Debug, E: Debug>(expected: T, mut call: impl AsyncFnMut() -> Result<T, E>) {
    let before = RUNS.load(SeqCst);
    let twice = async {
        assert_eq!(call().await.expect("executed"), expected);
        assert_eq!(RUNS.load(SeqCst), before + 1, "executed");
        assert_eq!(call().await.expect("replayed"), expected);
        assert_eq!(RUNS.load(SeqCst), before + 1, "replayed");
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(idem::with_engine(idem::Engine::in_memory(), twice));
}

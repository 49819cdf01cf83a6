//! Where a call finds its engine when none is named: the task's own, else the installed one.

use std::future::Future;
use std::sync::OnceLock;

use crate::engine::Engine;

static INSTALLED: OnceLock<Engine> = OnceLock::new();

tokio::task_local! {
    static OF_THIS_TASK: Engine;
}

/// Makes `engine` the one that annotated functions use, for the whole process.
///
/// # Errors
///
/// [`AlreadyInstalled`], if there is one already; it stays.
pub fn install(engine: Engine) -> Result<(), AlreadyInstalled> {
    INSTALLED.set(engine).map_err(|_| AlreadyInstalled)
}

/// Runs `future` with `engine` as the one that annotated functions use: for tests. It wins over the installed one. A task
/// that `future` spawns does not inherit it.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let engine = idem_core::Engine::in_memory();
/// idem_core::with_engine(engine, async {
///     // annotated functions called here use it
/// })
/// .await;
/// # }
/// ```
pub async fn with_engine<F: Future>(engine: Engine, future: F) -> F::Output {
    OF_THIS_TASK.scope(engine, future).await
}

/// There is an installed engine already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an engine is installed already")]
pub struct AlreadyInstalled;

/// `future` with the engine of this task, for another task.
pub(crate) fn carried<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let engine = OF_THIS_TASK.try_with(Clone::clone).ok();
    async move {
        match engine {
            Some(engine) => OF_THIS_TASK.scope(engine, future).await,
            None => future.await,
        }
    }
}

pub(crate) fn current() -> Option<Engine> {
    OF_THIS_TASK.try_with(Clone::clone).ok().or_else(|| INSTALLED.get().cloned())
}

//! A body in a task of its own: a caller that goes away, as one whose client hung up, cancels nothing.

use std::future::Future;
use std::pin::pin;

use tracing::Instrument as _;

use crate::attempt::Attempt;
use crate::call::{Call, Ready};
use crate::held::Held;
use crate::install;
use crate::reply::{Reply, Returns, returns};
use crate::start::Started;

impl Started {
    /// Runs `body`, if it is to run, and what comes after it in a task of its own. The engine and the tracing span are taken
    /// along; other task-locals are not.
    pub(crate) async fn run_detached<R, E, F>(self, returns: Returns<R, E>, body: impl FnOnce(Attempt) -> F) -> R
    where
        R: Send + 'static,
        E: 'static,
        F: Future<Output = R> + Send + 'static,
    {
        let claim = match self {
            Self::Claimed(claim) => claim,
            Self::Known(known) => return known.replay(returns),
        };
        let cut_short = claim.cut_short();
        let body = body(claim.attempt());
        let task = tokio::spawn(install::carried(run(claim, returns, body)).in_current_span());
        match task.await {
            Ok(answer) => answer,
            Err(ended) => match ended.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime ends, and took the task with it: as with a crash, nobody knows how far it came.
                Err(_) => (returns.refusal)(cut_short()),
            },
        }
    }
}

impl Call {
    /// [`run`](Self::run) in a task of its own: a caller that goes away, as one whose client hung up, cancels nothing, and
    /// the result is kept all the same. The engine and the tracing span are taken along, other task-locals are not.
    ///
    /// ```
    /// # #[tokio::main] async fn main() -> Result<(), idem_core::Error> {
    /// # let engine = idem_core::Engine::in_memory();
    /// let call = engine.operation("reports.build").key("2026-11").fingerprint(&());
    /// let pages = call.run_detached(|_| async { Ok::<u32, idem_core::Error>(12) }).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As of [`run`](Self::run); and [`LeaseLost`](crate::ErrorKind::LeaseLost) if the runtime ends under the body.
    ///
    /// # Panics
    ///
    /// If the body panics.
    ///
    /// # Cancellation
    ///
    /// Dropped before the body began, nothing runs. Dropped later, the body goes on.
    pub async fn run_detached<R, F>(self, body: impl FnOnce(Attempt) -> F) -> R
    where
        R: Reply + Send + 'static,
        R::Error: 'static,
        F: Future<Output = R> + Send + 'static,
    {
        self.run_detached_as(returns(), body).await
    }

    pub(crate) async fn run_detached_as<R, E, F>(self, returns: Returns<R, E>, body: impl FnOnce(Attempt) -> F) -> R
    where
        R: Send + 'static,
        E: 'static,
        F: Future<Output = R> + Send + 'static,
    {
        match self.start(&returns).await {
            Ok(started) => started.run_detached(returns, body).await,
            Err(error) => (returns.refusal)(error),
        }
    }

    /// [`run_detached`](Self::run_detached) for the attribute.
    #[doc(hidden)]
    pub async fn run_spawned<R, E, F>(self, returns: Returns<R, E>, body: F) -> R
    where
        R: Send + 'static,
        E: 'static,
        F: Future<Output = R> + Send + 'static,
    {
        self.run_detached_as(returns, |_| body).await
    }
}

impl Ready {
    #[doc(hidden)]
    pub async fn run_spawned<R, E, F>(self, returns: Returns<R, E>, body: F) -> R
    where
        R: Send + 'static,
        E: 'static,
        F: Future<Output = R> + Send + 'static,
    {
        self.0.run_detached(returns, |_| body).await
    }
}

async fn run<R, E, F: Future<Output = R>>(claim: Box<Held>, returns: Returns<R, E>, body: F) -> R {
    claim.run(returns, pin!(body)).await
}

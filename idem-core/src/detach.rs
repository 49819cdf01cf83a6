//! A body in a task of its own: a caller that goes away, as one whose client hung up, cancels nothing.

use std::future::Future;
use std::pin::pin;

use tracing::Instrument as _;

use crate::attempt::Attempt;
use crate::call::{Call, Ready, claimed};
use crate::held::Held;
use crate::install;
use crate::outcome;
use crate::reply::{Reply, Returns, returns};

impl Held {
    /// Runs `body` and what comes after it in a task of its own. The engine and the tracing span are taken along; other
    /// task-locals are not.
    pub(crate) async fn run_detached<R, E, F>(
        self: Box<Self>,
        returns: &Returns<R, E>,
        body: impl FnOnce(Attempt) -> F,
    ) -> R
    where
        R: Send + 'static,
        E: 'static,
        F: Future<Output = R> + Send + 'static,
    {
        let cut_short = self.cut_short();
        let body = body(self.attempt());
        let run = outcome::observe(run(self, *returns, body));
        let task = tokio::spawn(install::carried(run).in_current_span());
        match task.await {
            Ok((answer, seen)) => {
                outcome::note(seen);
                answer
            }
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
        self.run_detached_as(&returns(), body).await
    }

    pub(crate) async fn run_detached_as<R, E, F>(self, returns: &Returns<R, E>, body: impl FnOnce(Attempt) -> F) -> R
    where
        R: Send + 'static,
        E: 'static,
        F: Future<Output = R> + Send + 'static,
    {
        match claimed(self.start(returns).await, returns) {
            Ok(claim) => claim.run_detached(returns, body).await,
            Err(answer) => answer,
        }
    }

    /// [`run_detached`](Self::run_detached) for the attribute.
    #[doc(hidden)]
    pub fn run_spawned<R, E, F>(self, returns: &Returns<R, E>, body: F) -> impl Future<Output = R>
    where
        R: Send + 'static,
        E: 'static,
        F: Future<Output = R> + Send + 'static,
    {
        // Boxed outside of the future, which would otherwise hold it again for each hand that it goes through.
        let body = Box::pin(body);
        self.run_detached_as(returns, |_| body)
    }
}

impl Ready {
    #[doc(hidden)]
    pub fn run_spawned<R, E, F>(self, returns: &Returns<R, E>, body: F) -> impl Future<Output = R>
    where
        R: Send + 'static,
        E: 'static,
        F: Future<Output = R> + Send + 'static,
    {
        let body = Box::pin(body);
        self.0.run_detached(returns, |_| body)
    }
}

async fn run<R, E, F: Future<Output = R>>(claim: Box<Held>, returns: Returns<R, E>, body: F) -> R {
    claim.run(&returns, pin!(body)).await
}

//! A call that tells its errors apart, and one that can ask what became of an earlier attempt.

use std::fmt;
use std::future::Future;
use std::pin::pin;

use crate::attempt::Attempt;
use crate::call::{Call, Ready};
use crate::judge::{Judge, KeepableError};
use crate::reply::{CarriesIdem, Keepable, Returns, returns};

/// A call that tells its errors apart; made by [`Call::hold`], [`Call::keep`] and [`Call::reject`].
///
/// Where several pick one error, `hold` wins, then `keep`. After an error that none picks the same call may run again.
///
/// ```
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Serialize, Deserialize, thiserror::Error)]
/// enum PayError {
///     #[error("the provider did not answer")]
///     Timeout,
///     #[error("the card was declined")]
///     Declined,
///     #[error(transparent)]
///     #[serde(skip)]
///     Idem(#[from] idem_core::Error),
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// # let engine = idem_core::Engine::in_memory();
/// let charge = || {
///     let call = engine.operation("payments.charge").key("order-1").fingerprint(&());
///     call.hold(|error| matches!(error, PayError::Timeout)).keep(|error| matches!(error, PayError::Declined))
/// };
/// charge().run(async |_| Err::<u32, _>(PayError::Declined)).await.unwrap_err();
/// let again = charge().run(async |_| Ok(1)).await;
/// assert!(matches!(again, Err(PayError::Declined)), "replayed");
/// # }
/// ```
#[must_use = "a call does nothing until it runs"]
pub struct Judged<E> {
    call: Call,
    judge: Judge<E>,
}

impl<E> Judged<E> {
    pub(crate) const fn new(call: Call) -> Self {
        Self { call, judge: Judge::new() }
    }

    /// Leaves the outcome unknown after the errors that `which` picks: the effect may have happened, as after a timeout.
    /// Nothing runs under the key until the outcome is settled: by [`recover`](Self::recover), or by
    /// [`Engine::settle`](crate::Engine::settle).
    pub fn hold(mut self, which: fn(&E) -> bool) -> Self {
        self.judge = self.judge.hold(which);
        self
    }

    /// Keeps the errors that `which` picks, and replays them as results: they are final. One that holds an error of idem's
    /// own, whose variant is `#[serde(skip)]`, is not kept; one that cannot be kept for another reason, as for its size, is
    /// remembered without itself, and repeats get [`ResultNotKept`](crate::ErrorKind::ResultNotKept).
    pub fn keep(mut self, which: fn(&E) -> bool) -> Self
    where
        E: KeepableError,
    {
        self.judge = self.judge.keep(which);
        self
    }

    /// Lets other arguments follow under the key after the errors that `which` picks: nothing happened. Not if an earlier
    /// attempt may have had its effect: that one had it with these arguments.
    pub fn reject(mut self, which: fn(&E) -> bool) -> Self {
        self.judge = self.judge.reject(which);
        self
    }

    /// Asks for the outcome of an earlier attempt that ended without an answer, before the body runs: `Ok(Some(value))` is
    /// completed and replayed, after `Ok(None)` the body runs, and after an error the outcome is as unknown as before.
    /// Called then only; the claim is held and renewed meanwhile.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), idem_core::Error> {
    /// # let engine = idem_core::Engine::in_memory();
    /// # async fn look_up(order: &str) -> Result<Option<String>, idem_core::Error> { Ok(None) }
    /// # async fn charge(order: &str) -> Result<String, idem_core::Error> { Ok("receipt-1".to_owned()) }
    /// # let order = "order-1";
    /// let receipt = engine
    ///     .operation("payments.charge")
    ///     .key(order)
    ///     .fingerprint(&order)
    ///     .recover(async || look_up(order).await)
    ///     .run(async |_| charge(order).await)
    ///     .await?;
    /// # Ok(()) }
    /// ```
    pub fn recover<T, A>(self, ask: A) -> Recovering<E, A>
    where
        A: AsyncFnOnce() -> Result<Option<T>, E>,
    {
        Recovering { judged: self, ask }
    }

    /// Runs `body` as [`Call::run`] does.
    ///
    /// # Errors
    ///
    /// As of [`Call::run`].
    pub async fn run<T, B>(self, body: B) -> Result<T, E>
    where
        T: Keepable,
        E: CarriesIdem,
        B: AsyncFnOnce(Attempt) -> Result<T, E>,
    {
        self.call.run_as(&returns().judged(self.judge), body).await
    }
}

impl<E: 'static> Judged<E> {
    /// Runs `body` in a task of its own, as [`Call::run_detached`] does.
    ///
    /// # Errors
    ///
    /// As of [`Call::run_detached`].
    pub async fn run_detached<T, F>(self, body: impl FnOnce(Attempt) -> F) -> Result<T, E>
    where
        T: Keepable + Send + 'static,
        E: CarriesIdem + Send,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        self.call.run_detached_as(&returns().judged(self.judge), body).await
    }
}

/// A call that can ask what became of an earlier attempt; made by [`Judged::recover`].
#[must_use = "a call does nothing until it runs"]
pub struct Recovering<E, A> {
    judged: Judged<E>,
    ask: A,
}

impl<E, A> Recovering<E, A> {
    /// Runs `body` as [`Call::run`] does, after asking if there is something to ask.
    ///
    /// # Errors
    ///
    /// As of [`Call::run`]; and an error of the asking, unchanged.
    pub async fn run<T, B>(self, body: B) -> Result<T, E>
    where
        T: Keepable,
        E: CarriesIdem,
        A: AsyncFnOnce() -> Result<Option<T>, E>,
        B: AsyncFnOnce(Attempt) -> Result<T, E>,
    {
        let (returns, ready) = self.asked().await;
        match ready {
            Ok(ready) => ready.0.run_closure(&returns, body).await,
            Err(answer) => answer,
        }
    }

    /// Runs `body` in a task of its own, as [`Call::run_detached`] does. What is asked is asked in this one.
    ///
    /// # Errors
    ///
    /// As of [`Call::run_detached`]; and an error of the asking, unchanged.
    pub async fn run_detached<T, F>(self, body: impl FnOnce(Attempt) -> F) -> Result<T, E>
    where
        T: Keepable + Send + 'static,
        E: CarriesIdem + Send + 'static,
        A: AsyncFnOnce() -> Result<Option<T>, E>,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let (returns, ready) = self.asked().await;
        match ready {
            Ok(ready) => ready.0.run_detached(&returns, body).await,
            Err(answer) => answer,
        }
    }

    async fn asked<T>(self) -> (Returns<Result<T, E>, E>, Result<Ready, Result<T, E>>)
    where
        T: Keepable,
        E: CarriesIdem,
        A: AsyncFnOnce() -> Result<Option<T>, E>,
    {
        let Self { judged: Judged { call, judge }, ask } = self;
        let returns: Returns<Result<T, E>, E> = returns().judged(judge);
        let ask = pin!(async move { returns.asked(ask().await) });
        let ready = call.ask_pinned(&returns, ask).await;
        (returns, ready)
    }
}

impl<E> fmt::Debug for Judged<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judged").field("call", &self.call).finish_non_exhaustive()
    }
}

impl<E, A> fmt::Debug for Recovering<E, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recovering").field("judged", &self.judged).finish_non_exhaustive()
    }
}

//! How a call was answered: [`Seen`], and the value together with it: [`Outcome`].

use std::cell::Cell;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::record::Fence;

/// How a call was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    pub(crate) replayed: bool,
    pub(crate) recorded: bool,
    pub(crate) vanished: bool,
    pub(crate) attempt: u32,
    pub(crate) fence: Fence,
    pub(crate) age: Duration,
}

impl Seen {
    /// Whether the value is a kept one, so that the body did not run in this call.
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        self.replayed
    }

    /// Whether the result is kept for repeats. `false` says that the next repeat may run again.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.recorded
    }

    /// Whether the store lost this call's record while the body ran. It was written again; but in between another call
    /// could have been told that nothing is known.
    #[must_use]
    pub fn had_vanished(&self) -> bool {
        self.vanished
    }

    /// The attempt that made the value.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The fence of that attempt.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.fence
    }

    /// How long ago that attempt began, by the wall clocks of its host and this one. Zero in the call that ran it.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.age
    }
}

tokio::task_local! {
    static OBSERVED: Cell<Option<Seen>>;
}

/// Runs `call` and tells how it was answered, where its signature has no place for an [`Outcome`]: of several calls in it
/// the last that ended, which of nested ones is the outermost. `None` if no body ran and nothing was replayed.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// # let engine = idem_core::Engine::in_memory();
/// let number = || engine.operation("orders.number").key("cart-1").fingerprint(&()).run(async |_| Ok::<u32, idem_core::Error>(7));
/// let (first, seen) = idem_core::observe(number()).await;
/// assert!(!seen.unwrap().is_replayed());
/// let (again, seen) = idem_core::observe(number()).await;
/// assert!(seen.unwrap().is_replayed());
/// # assert_eq!(first.unwrap(), again.unwrap());
/// # }
/// ```
///
/// # Cancellation
///
/// As of `call`.
pub async fn observe<F: Future>(call: F) -> (F::Output, Option<Seen>) {
    let observing = async {
        let output = call.await;
        (output, OBSERVED.with(Cell::take))
    };
    OBSERVED.scope(Cell::new(None), observing).await
}

/// Notes how the call that ends here was answered, for who observes it.
pub(crate) fn note(seen: Option<Seen>) {
    // Mostly nobody does.
    let _ = OBSERVED.try_with(|observed| observed.set(seen));
}

/// A value, and how its call was answered.
///
/// A function that returns `Result<Outcome<T>, E>` gets this filled in; its body ends in `Ok(value.into())`.
///
/// ```
/// # use idem_core::{Engine, Error, Outcome};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
/// # let engine = Engine::in_memory();
/// let call = async || {
///     engine.operation("orders.number").key("cart-1").fingerprint(&()).run(async |_| Ok::<Outcome<u32>, Error>(7.into())).await
/// };
/// assert!(!call().await?.seen().unwrap().is_replayed());
/// let again = call().await?;
/// assert_eq!(*again, 7);
/// assert!(again.seen().unwrap().is_replayed());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome<T> {
    value: T,
    seen: Option<Seen>,
}

impl<T> Outcome<T> {
    /// The value alone.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// How the call was answered; `None` until the call has ended, inside the body.
    pub fn seen(&self) -> Option<&Seen> {
        self.seen.as_ref()
    }

    pub(crate) fn with_seen(self, seen: Seen) -> Self {
        Self { seen: Some(seen), ..self }
    }
}

impl<T> From<T> for Outcome<T> {
    fn from(value: T) -> Self {
        Self { value, seen: None }
    }
}

impl<T> Deref for Outcome<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Outcome<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

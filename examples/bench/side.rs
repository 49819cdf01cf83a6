//! What both sides of the comparison can do.

use std::future::Future;
use std::time::Duration;

/// Ends the bench: a figure measured among errors is no figure.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What a call came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Executed or replayed.
    Result(String),
    /// Another call with this key is running.
    Conflict(Duration),
}

/// A way to run [`effect`](crate::effect::effect) once per key.
pub(crate) trait Side: Clone + Send + Sync + 'static {
    fn call(&self, order: &str) -> impl Future<Output = Result<Answer, Failure>> + Send;
}

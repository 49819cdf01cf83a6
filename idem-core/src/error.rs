//! What a caller is told when no result can be given: [`Error`] and its kinds.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::codec::DecodeError;
use crate::fingerprint::FingerprintError;
use crate::key::InvalidKey;
use crate::names::NameError;
use crate::policy::ConfigError;
use crate::record::{Corrupt, Fence, Kept};
use crate::store::{StoreError, StoreErrorKind};

/// Why a call has no result. One pointer wide, cheap to clone. It shows no key, argument or result; only
/// [`value`](Error::value) gives the one that could not be recorded.
///
/// ```
/// use idem_core::{Error, ErrorKind};
///
/// fn answer(error: &Error) -> (u16, Option<std::time::Duration>) {
///     match error.kind() {
///         ErrorKind::InFlight => (409, error.retry_after()),
///         _ => (error.status(), None),
///     }
/// }
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

struct Inner {
    operation: Option<Cow<'static, str>>,
    failure: Failure,
}

/// The cause as it is known inside; [`ErrorKind`] is its public face.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("another call with this key is in flight")]
    InFlight { retry_after: Duration },
    #[error("this key was used with other arguments")]
    Mismatch,
    #[error("the idempotency key was refused")]
    InvalidKey(#[source] InvalidKey),
    #[error("the arguments have no fingerprint")]
    InvalidArguments(#[source] FingerprintError),
    #[error("the outcome of an earlier attempt is unknown; nothing runs until it is settled")]
    Uncertain { fence: Fence },
    #[error("the attempts are exhausted; {}", if *crashed { "the outcome of the last one is unknown" } else { "the last one gave up" })]
    Exhausted { crashed: bool },
    #[error("the lease was lost while the body ran")]
    LeaseLost { retry_after: Duration },
    #[error("the store gave no clear answer, so the body did not run")]
    Store(#[source] StoreError),
    #[error("the store answered too late to be sure of the lease, so the body did not run")]
    TooLate,
    #[error("the store gave no clear answer")]
    Upkeep(#[source] StoreError),
    #[error("the engine is shut down")]
    ShutDown,
    #[error("the operation ran, but its result could not be recorded: a repeat may run it again")]
    Unrecorded(Kept),
    #[error("the operation ran before, but its result could not be kept")]
    ResultNotKept,
    #[error("the kept result cannot be decoded as this function's result type")]
    Undecodable(#[source] DecodeError),
    #[error("the record of this key cannot be used")]
    Corrupt(#[source] Corrupt),
    #[error("no engine: call `idem::install`, wrap the call in `idem::with_engine`, or write `engine = …`")]
    NoEngine,
    #[error("the operation's policy is invalid")]
    Policy(#[source] ConfigError),
    #[error(transparent)]
    Name(NameError),
}

/// The kinds of [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Another call with this key runs; try again after [`retry_after`](Error::retry_after).
    InFlight,
    /// The key was used with other arguments.
    Mismatch,
    /// The key (or scope) is absent or blank, or the arguments have no fingerprint. Nothing was sent.
    InvalidKey,
    /// The outcome of an earlier attempt is unknown: nothing runs until it is settled, by its late owner, by a call
    /// that can ask ([`recover`](crate::Call::recover)), or by [`Engine::settle`](crate::Engine::settle). [`Error::fence`] names
    /// that attempt.
    Uncertain,
    /// There were as many attempts as [`Policy::max_attempts`](crate::Policy::max_attempts) allows.
    Exhausted,
    /// While the body ran, its lease ended and another call followed, or may have (`Policy::on_doubt`); or a person settled or
    /// forgot the record; or the runtime ended under a detached body. The effect may have happened, or happen twice.
    LeaseLost,
    /// The store gave no clear answer before the body: it did not run.
    Store(StoreErrorKind),
    /// The engine was [shut down](crate::Engine::shutdown) before the body: it did not run.
    ShutDown,
    /// The operation ran, but its result could not be recorded, and the policy wants an error then
    /// ([`OnUnrecorded::Fail`](crate::OnUnrecorded)). [`Error::value`] gives it.
    Unrecorded,
    /// The operation ran, but its result could not be kept.
    ResultNotKept,
    /// The operation ran, but its kept result does not decode as the result type of today.
    Undecodable,
    /// The record is damaged, or of a format unknown to this release. Nothing runs on it.
    Corrupt,
    /// No engine was found.
    NoEngine,
    /// The operation's configuration is invalid, or its name is another function's. Nothing was sent.
    Config,
}

impl Error {
    pub(crate) fn new(operation: Option<Cow<'static, str>>, failure: Failure) -> Self {
        Self(Arc::new(Inner { operation, failure }))
    }

    pub(crate) fn failure(&self) -> &Failure {
        &self.0.failure
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &self.0.failure {
            Failure::InFlight { .. } => ErrorKind::InFlight,
            Failure::Mismatch => ErrorKind::Mismatch,
            Failure::InvalidKey(_) | Failure::InvalidArguments(_) => ErrorKind::InvalidKey,
            Failure::Uncertain { .. } => ErrorKind::Uncertain,
            Failure::Exhausted { .. } => ErrorKind::Exhausted,
            Failure::LeaseLost { .. } => ErrorKind::LeaseLost,
            Failure::Store(error) | Failure::Upkeep(error) => ErrorKind::Store(error.kind()),
            Failure::TooLate => ErrorKind::Store(StoreErrorKind::Unavailable),
            Failure::ShutDown => ErrorKind::ShutDown,
            Failure::Unrecorded(_) => ErrorKind::Unrecorded,
            Failure::ResultNotKept => ErrorKind::ResultNotKept,
            Failure::Undecodable(_) => ErrorKind::Undecodable,
            Failure::Corrupt(_) => ErrorKind::Corrupt,
            Failure::NoEngine => ErrorKind::NoEngine,
            Failure::Policy(_) | Failure::Name(_) => ErrorKind::Config,
        }
    }

    /// The operation's name; `None` where none was known yet.
    #[must_use]
    pub fn operation(&self) -> Option<&str> {
        self.0.operation.as_deref()
    }

    /// When to try again at the latest, where that can help: after what is left of the lease of the call that runs, after a
    /// lease where this call lost its own, after a second where the store gave no answer.
    ///
    /// What is left of a lease is the longest that a *crash* of its holder keeps others out. A call that lives usually ends
    /// much sooner: asking again earlier is right, and costs two commands.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self.0.failure {
            Failure::InFlight { retry_after } => Some(retry_after),
            Failure::LeaseLost { retry_after } => Some(retry_after.min(Duration::from_secs(60))),
            Failure::Store(_) | Failure::Upkeep(_) | Failure::TooLate | Failure::ShutDown => {
                Some(Duration::from_secs(1))
            }
            _ => None,
        }
    }

    /// The fence of the attempt whose outcome is unknown, to settle it by; of an [`Uncertain`](ErrorKind::Uncertain) error
    /// alone.
    #[must_use]
    pub fn fence(&self) -> Option<Fence> {
        match self.0.failure {
            Failure::Uncertain { fence } => Some(fence),
            _ => None,
        }
    }

    /// The value that could not be recorded, of an [`Unrecorded`](ErrorKind::Unrecorded) error; `None` of any other, or if the
    /// value could not have been kept as a `T` in any case.
    #[must_use]
    pub fn value<T: DeserializeOwned>(&self) -> Option<T> {
        match &self.0.failure {
            Failure::Unrecorded(Kept { codec: Some(codec), payload, .. }) => codec.decode(payload).ok(),
            _ => None,
        }
    }

    /// Whether the same call may succeed later, as it is.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self.kind(), ErrorKind::InFlight | ErrorKind::LeaseLost | ErrorKind::Store(_) | ErrorKind::ShutDown)
    }

    /// Whether the operation may have had its effect: in this call, or in an earlier one whose result cannot be given.
    /// Where this is `false`, nothing of this call's doing happened.
    #[must_use]
    pub fn may_have_run(&self) -> bool {
        use ErrorKind as Kind;
        matches!(
            self.kind(),
            Kind::Uncertain
                | Kind::Exhausted
                | Kind::LeaseLost
                | Kind::Unrecorded
                | Kind::ResultNotKept
                | Kind::Undecodable
                | Kind::Corrupt
        )
    }

    /// The HTTP status that fits.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self.kind() {
            ErrorKind::InvalidKey => 400,
            ErrorKind::InFlight | ErrorKind::Uncertain | ErrorKind::LeaseLost => 409,
            ErrorKind::Mismatch | ErrorKind::Exhausted => 422,
            ErrorKind::Store(_) | ErrorKind::ShutDown => 503,
            ErrorKind::Unrecorded
            | ErrorKind::ResultNotKept
            | ErrorKind::Undecodable
            | ErrorKind::Corrupt
            | ErrorKind::NoEngine
            | ErrorKind::Config => 500,
        }
    }

    /// Finds an idem error in `error` or among its sources, so that it can be told apart inside `anyhow::Error`,
    /// `Box<dyn Error>` and the like.
    ///
    /// ```
    /// use idem_core::{Error, ErrorKind};
    ///
    /// fn is_conflict(error: &(dyn std::error::Error + 'static)) -> bool {
    ///     Error::find(error).is_some_and(|error| error.kind() == ErrorKind::InFlight)
    /// }
    /// ```
    #[must_use]
    pub fn find<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Self> {
        std::iter::successors(Some(error), |&error| error.source()).find_map(|error| error.downcast_ref())
    }
}

impl ErrorKind {
    /// The kind as one word, as metrics and logs show it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InFlight => "conflict",
            Self::Mismatch => "mismatch",
            Self::InvalidKey => "invalid_key",
            Self::Uncertain => "uncertain",
            Self::Exhausted => "exhausted",
            Self::LeaseLost => "lease_lost",
            Self::Store(_) => "store_error",
            Self::ShutDown => "shut_down",
            Self::Unrecorded => "unrecorded",
            Self::ResultNotKept => "result_not_kept",
            Self::Undecodable => "undecodable",
            Self::Corrupt => "corrupt",
            Self::NoEngine => "no_engine",
            Self::Config => "config",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(operation) = self.operation() {
            write!(f, "{operation}: ")?;
        }
        self.0.failure.fmt(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error").field("operation", &self.operation()).field("failure", &self.0.failure).finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.failure.source()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(failure: Failure) -> Error {
        Error::new(Some("payments.charge".into()), failure)
    }

    #[test]
    fn an_error_is_one_pointer_wide_and_can_be_sent() {
        fn sendable<T: Clone + Send + Sync + 'static>() {}
        sendable::<Error>();
        assert_eq!(size_of::<Result<(), Error>>(), size_of::<usize>());
    }

    #[test]
    fn an_error_is_found_inside_others() {
        #[derive(Debug, thiserror::Error)]
        #[error("payment")]
        struct Payment(#[from] Error);

        let boxed: Box<dyn StdError + Send + Sync> = Payment(error(Failure::Mismatch)).into();
        assert_eq!(Error::find(&*boxed).map(Error::kind), Some(ErrorKind::Mismatch));
        assert!(Error::find(&fmt::Error).is_none());
    }

    #[test]
    fn a_conflict_says_when_to_try_again() {
        let conflict = error(Failure::InFlight { retry_after: Duration::from_secs(3) });
        assert_eq!(conflict.retry_after(), Some(Duration::from_secs(3)));
        assert!(conflict.is_retryable() && !conflict.may_have_run());
        assert_eq!(conflict.status(), 409);
        assert_eq!(conflict.to_string(), "payments.charge: another call with this key is in flight");
    }

    #[test]
    fn an_error_names_the_operation_and_keeps_its_source() {
        let refused = error(Failure::InvalidKey(InvalidKey::Missing));
        assert_eq!(refused.to_string(), "payments.charge: the idempotency key was refused");
        assert_eq!(refused.source().unwrap().to_string(), "the key is missing");
    }
}

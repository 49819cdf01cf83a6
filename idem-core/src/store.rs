//! What a store promises: the verbs, their requests and their replies.

mod claim;
mod complete;
mod forget;
mod inspect;
mod release;
mod renew;
mod settle;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::operation::Operation;

pub use claim::{Claim, ClaimReply, Grant, OnCrash, Replay};
pub use complete::{Complete, CompleteReply, Owner};
pub use forget::{Forget, ForgetReply};
pub use inspect::{Cursor, Found, InspectReply, Inspection, Page, Standing, Survey};
pub use release::{GivenUp, Release, ReleaseReply};
pub use renew::{Renew, RenewReply};
pub use settle::{Settle, SettleReply, Settlement};

/// A place that keeps one record per identity and changes it atomically.
///
/// Each verb is one atomic step over one record; what it decides is written down as a pure function in
/// [`protocol`](crate::protocol), and a store does exactly that. A step whose answer is missing may have happened: the
/// error is then [`StoreError::Ambiguous`], never a guess. Asking again with the same request is safe for every verb.
///
/// # Cancellation
///
/// A future dropped before it is done leaves the step done or not done, never half done, and the store usable.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Wins the right to run, or says why not. A record's fingerprint is compared before its state.
    ///
    /// # Errors
    ///
    /// [`StoreError`], if there is no clear answer.
    fn claim(&self, request: &Claim) -> impl Future<Output = Result<ClaimReply, StoreError>> + Send;

    /// Holds on to the caller's own claim for another lease.
    ///
    /// # Errors
    ///
    /// [`StoreError`], if there is no clear answer.
    fn renew(&self, request: &Renew) -> impl Future<Output = Result<RenewReply, StoreError>> + Send;

    /// Settles the caller's own claim with its result.
    ///
    /// # Errors
    ///
    /// [`StoreError`], if there is no clear answer.
    fn complete(&self, request: &Complete) -> impl Future<Output = Result<CompleteReply, StoreError>> + Send;

    /// Gives the caller's own claim up, unfinished. The record stays, so that attempt and fence go on rising.
    ///
    /// # Errors
    ///
    /// [`StoreError`], if there is no clear answer.
    fn release(&self, request: &Release) -> impl Future<Output = Result<ReleaseReply, StoreError>> + Send;

    /// Says how an attempt ended whose outcome nobody knows, as a person or a job found out.
    ///
    /// # Errors
    ///
    /// [`StoreError`], if there is no clear answer.
    fn settle(&self, request: &Settle) -> impl Future<Output = Result<SettleReply, StoreError>> + Send;

    /// Frees an identity for another run.
    ///
    /// # Errors
    ///
    /// [`StoreError`], if there is no clear answer.
    fn forget(&self, request: &Forget) -> impl Future<Output = Result<ForgetReply, StoreError>> + Send;

    /// Tells what is known of an identity. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError`], if there is no clear answer.
    fn inspect(&self, operation: &Operation) -> impl Future<Output = Result<InspectReply, StoreError>> + Send;

    /// Reads a part of the store: a bounded piece of work, which holds nobody up for long. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError`], if there is no clear answer.
    fn survey(&self, request: &Survey) -> impl Future<Output = Result<Page, StoreError>> + Send;

    /// Looks for signs that records were lost unseen (a restart, a failover, an eviction), and counts and logs what is new
    /// since the last look ([`STORE_EPOCHS`](crate::metrics::STORE_EPOCHS)). An engine asks for it at a slow pace while it
    /// holds claims. By default there is nothing to look at.
    ///
    /// # Errors
    ///
    /// [`StoreError`], if there is no clear answer. A store that is not told is none of these.
    fn watch(&self) -> impl Future<Output = Result<(), StoreError>> + Send {
        std::future::ready(Ok(()))
    }
}

/// No clear answer from a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The step did not happen: no connection, or the server refused it.
    #[error("the store is unavailable")]
    Unavailable(#[source] Cause),
    /// The step may have happened: its answer is missing or makes no sense.
    #[error("the store's answer is missing")]
    Ambiguous(#[source] Cause),
}

/// What is behind a [`StoreError`], in a store's own words, without keys or values.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// What kind of trouble a store is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// See [`StoreError::Unavailable`].
    Unavailable,
    /// See [`StoreError::Ambiguous`].
    Ambiguous,
}

impl StoreError {
    /// What kind of trouble it is.
    #[must_use]
    pub const fn kind(&self) -> StoreErrorKind {
        match self {
            Self::Unavailable(_) => StoreErrorKind::Unavailable,
            Self::Ambiguous(_) => StoreErrorKind::Ambiguous,
        }
    }
}

impl StoreErrorKind {
    /// The kind as one word, as metrics and logs show it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::Ambiguous => "ambiguous",
        }
    }
}

type Answer<'a, R> = Pin<Box<dyn Future<Output = Result<R, StoreError>> + Send + 'a>>;

/// [`Store`] with its types erased, so that an engine has no type parameters: one boxed future a step is nothing beside a
/// round trip.
pub(crate) trait AnyStore: fmt::Debug + Send + Sync {
    fn claim<'a>(&'a self, request: &'a Claim) -> Answer<'a, ClaimReply>;
    fn renew<'a>(&'a self, request: &'a Renew) -> Answer<'a, RenewReply>;
    fn complete<'a>(&'a self, request: &'a Complete) -> Answer<'a, CompleteReply>;
    fn release<'a>(&'a self, request: &'a Release) -> Answer<'a, ReleaseReply>;
    fn settle<'a>(&'a self, request: &'a Settle) -> Answer<'a, SettleReply>;
    fn forget<'a>(&'a self, request: &'a Forget) -> Answer<'a, ForgetReply>;
    fn inspect<'a>(&'a self, operation: &'a Operation) -> Answer<'a, InspectReply>;
    fn survey<'a>(&'a self, request: &'a Survey) -> Answer<'a, Page>;
    fn watch(&self) -> Answer<'_, ()>;
}

impl<S: Store> AnyStore for S {
    fn claim<'a>(&'a self, request: &'a Claim) -> Answer<'a, ClaimReply> {
        Box::pin(Store::claim(self, request))
    }

    fn renew<'a>(&'a self, request: &'a Renew) -> Answer<'a, RenewReply> {
        Box::pin(Store::renew(self, request))
    }

    fn complete<'a>(&'a self, request: &'a Complete) -> Answer<'a, CompleteReply> {
        Box::pin(Store::complete(self, request))
    }

    fn release<'a>(&'a self, request: &'a Release) -> Answer<'a, ReleaseReply> {
        Box::pin(Store::release(self, request))
    }

    fn settle<'a>(&'a self, request: &'a Settle) -> Answer<'a, SettleReply> {
        Box::pin(Store::settle(self, request))
    }

    fn forget<'a>(&'a self, request: &'a Forget) -> Answer<'a, ForgetReply> {
        Box::pin(Store::forget(self, request))
    }

    fn inspect<'a>(&'a self, operation: &'a Operation) -> Answer<'a, InspectReply> {
        Box::pin(Store::inspect(self, operation))
    }

    fn survey<'a>(&'a self, request: &'a Survey) -> Answer<'a, Page> {
        Box::pin(Store::survey(self, request))
    }

    fn watch(&self) -> Answer<'_, ()> {
        Box::pin(Store::watch(self))
    }
}

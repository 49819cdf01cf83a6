//! What a store promises: the verbs, their requests and their replies.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::fingerprint::Fingerprint;
use crate::operation::Operation;
use crate::record::{Claimed, Corrupt, Fence, Kept, Origin, Record, State, Token};

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
}

/// The request of [`Store::claim`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Claim {
    /// Whose record.
    pub operation: Operation,
    /// The digest of this call's arguments.
    pub fingerprint: Fingerprint,
    /// The proof of ownership; the same while an answer is missing, new after any answer.
    pub token: Token,
    /// The least fence to hand out.
    pub proposed: Fence,
    /// How long the claim holds, in milliseconds.
    pub lease: u64,
    /// How long an unfinished claim is remembered, in milliseconds; at least twice the lease.
    pub linger: u64,
}

impl Claim {
    /// The record of this claim where nothing is known of the identity.
    #[must_use]
    pub fn first_record(&self) -> Record {
        self.record(self.proposed, 1, Origin::First)
    }

    pub(crate) fn record(&self, fence: Fence, attempt: u32, origin: Origin) -> Record {
        // A server rounds to milliseconds: two more make sure that a lease is never shorter than its holder believes.
        let floor = self.linger.saturating_sub(self.lease + 2);
        let claimed = Claimed { token: self.token, floor, origin };
        Record { fingerprint: self.fingerprint, fence, attempt, state: State::InFlight(claimed) }
    }
}

/// The reply to [`Store::claim`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClaimReply {
    /// The caller may run. An earlier request with the same token may have been the one that won.
    Acquired(Grant),
    /// Another call holds the claim.
    InFlight {
        /// What is left of its lease.
        left: Duration,
    },
    /// The result is known.
    Replay(Replay),
    /// The identity is bound to other arguments.
    Mismatch,
    /// This very token was released before: an old message arrived late.
    Stale,
    /// The record cannot be read; nothing was written.
    Corrupt(Corrupt),
}

/// A claim that was won.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Grant {
    /// The fence of this claim.
    pub fence: Fence,
    /// 1 for the first claim of the identity, one more for each later one.
    pub attempt: u32,
    /// How it was won.
    pub origin: Origin,
}

impl Grant {
    /// The grant that a record in flight stands for; `None` for any other.
    #[must_use]
    pub fn of(record: &Record) -> Option<Self> {
        match &record.state {
            State::InFlight(Claimed { origin, .. }) => {
                Some(Self { fence: record.fence, attempt: record.attempt, origin: *origin })
            }
            State::Released(_) | State::Completed(_) => None,
        }
    }
}

/// A result that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replay {
    /// The fence of the claim that made the result.
    pub fence: Fence,
    /// The attempt that made it.
    pub attempt: u32,
    /// The result.
    pub kept: Kept,
}

impl Replay {
    /// The replay that a settled record stands for; `None` for any other.
    #[must_use]
    pub fn of(record: &Record) -> Option<Self> {
        match &record.state {
            State::Completed(kept) => Some(Self { fence: record.fence, attempt: record.attempt, kept: kept.clone() }),
            State::InFlight(_) | State::Released(_) => None,
        }
    }
}

/// Who writes: the holder of one claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The claim's token.
    pub token: Token,
    /// The claim's fence. One token can win twice, when a late message wins again; the fence tells the two apart.
    pub fence: Fence,
}

impl Owner {
    pub(crate) fn holds(&self, record: &Record, claimed: &Claimed) -> bool {
        claimed.token == self.token && record.fence == self.fence
    }
}

/// The request of [`Store::renew`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Renew {
    /// Whose record.
    pub operation: Operation,
    /// The record of the claim, as it was written: its token and fence name the owner.
    pub record: Record,
    /// How long an unfinished claim is remembered, in milliseconds; the one of the claim.
    pub linger: u64,
    /// Whether a record that is absent may be written again: see [`Complete::restore`].
    pub restore: bool,
}

impl Renew {
    /// The renewal of what `claim` won.
    #[must_use]
    pub fn of(claim: Claim, grant: Grant, restore: bool) -> Self {
        let record = claim.record(grant.fence, grant.attempt, grant.origin);
        Self { operation: claim.operation, record, linger: claim.linger, restore }
    }

    /// Who renews; `None` if the record is none in flight.
    #[must_use]
    pub fn owner(&self) -> Option<Owner> {
        match &self.record.state {
            State::InFlight(claimed) => Some(Owner { token: claimed.token, fence: self.record.fence }),
            State::Released(_) | State::Completed(_) => None,
        }
    }
}

/// The reply to [`Store::renew`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RenewReply {
    /// The claim holds for another lease.
    Renewed,
    /// The record had vanished; it was written again.
    Reasserted,
    /// The record is absent, and the caller could not be sure of its lease: nothing was written. Whether anyone followed,
    /// nobody can tell.
    Absent,
    /// The claim is not the caller's any more, for good: another came after it, or it is settled or released.
    Lost,
    /// The record cannot be read; nothing was written.
    Corrupt(Corrupt),
}

/// The request of [`Store::complete`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Complete {
    /// Whose record.
    pub operation: Operation,
    /// Who completes.
    pub owner: Owner,
    /// The attempt that made the result.
    pub attempt: u32,
    /// The digest of the arguments.
    pub fingerprint: Fingerprint,
    /// The result.
    pub kept: Kept,
    /// How long the result answers repeats, in milliseconds.
    pub retention: u64,
    /// Whether a record that is absent may be written again: only while the caller's own count of its lease is not over,
    /// so that the absence can be no expiry and nobody can have followed.
    pub restore: bool,
}

impl Complete {
    /// The settled record.
    #[must_use]
    pub fn record(&self) -> Record {
        Record {
            fingerprint: self.fingerprint,
            fence: self.owner.fence,
            attempt: self.attempt,
            state: State::Completed(self.kept.clone()),
        }
    }
}

/// The reply to [`Store::complete`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompleteReply {
    /// The result is kept.
    Completed,
    /// An earlier request of the same owner kept it.
    Already,
    /// The record had vanished; it was written again, with the result.
    Restored,
    /// The record is absent, and the caller could not be sure of its lease: nothing was written.
    Absent,
    /// Another claim came after this one: nothing was written.
    Lost,
    /// The record cannot be read; nothing was written.
    Corrupt(Corrupt),
}

/// The request of [`Store::release`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Release {
    /// Whose record.
    pub operation: Operation,
    /// The claim's token.
    pub token: Token,
    /// The claim's fence, after its body ran; `None` for a claim under which nothing ran: its answer never came, or came
    /// too late.
    pub fence: Option<Fence>,
    /// How long the released record is remembered, in milliseconds.
    pub retention: u64,
}

/// The reply to [`Store::release`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReleaseReply {
    /// The claim is given up.
    Released,
    /// It was not the caller's to give up (any more): nothing was written.
    Unchanged,
    /// The record cannot be read; nothing was written.
    Corrupt(Corrupt),
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
}

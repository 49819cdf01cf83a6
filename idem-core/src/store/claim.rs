//! [`Store::claim`](super::Store::claim): its request and its replies.

use std::time::Duration;

use crate::fingerprint::Fingerprint;
use crate::operation::Operation;
use crate::record::{Claimed, Corrupt, Ending, Fence, Kept, Origin, Record, State, Token};

/// The request of [`Store::claim`](super::Store::claim).
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
    /// What to do about an attempt that ended without an answer. Who meets it decides, not whose attempt it was.
    pub on_crash: OnCrash,
    /// No attempt follows after this many.
    pub max_attempts: Option<u32>,
}

/// What to do about an earlier attempt that ended without an answer: its lease ran out, so it may have had its effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnCrash {
    /// Take over and run again.
    Rerun,
    /// Nothing runs: the outcome is declared uncertain, and every call is told so until it is settled.
    Refuse,
    /// Claim to ask for the outcome first; then it is replayed, or the body runs.
    Recover,
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
        Record { fingerprint: Some(self.fingerprint), fence, attempt, state: State::InFlight(claimed) }
    }
}

/// The reply to [`Store::claim`](super::Store::claim).
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
    /// The outcome of an earlier attempt is unknown, and nothing runs until it is settled.
    Uncertain {
        /// The fence of that attempt.
        fence: Fence,
    },
    /// There were as many attempts as the caller allows; nothing was written.
    Exhausted {
        /// Whether the outcome of the last one is unknown. Else it gave up unfinished.
        crashed: bool,
    },
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
            State::Released(_) | State::Uncertain(_) | State::Completed(_) | State::Failed(_) => None,
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
    /// Whether it is a value or an error.
    pub ending: Ending,
    /// The result.
    pub kept: Kept,
}

impl Replay {
    /// The replay that a settled record stands for; `None` for any other.
    #[must_use]
    pub fn of(record: &Record) -> Option<Self> {
        let (ending, kept) = record.state.kept()?;
        Some(Self { fence: record.fence, attempt: record.attempt, ending, kept: kept.clone() })
    }
}

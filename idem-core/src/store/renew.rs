//! [`Store::renew`](super::Store::renew): its request and its replies.

use crate::operation::Operation;
use crate::record::{Corrupt, Record, State};

use super::{Claim, Grant, Owner};

/// The request of [`Store::renew`](super::Store::renew).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Renew {
    /// Whose record.
    pub operation: Operation,
    /// The record of the claim, as it was written: its token and fence name the owner.
    pub record: Record,
    /// How long an unfinished claim is remembered, in milliseconds; the one of the claim.
    pub linger: u64,
    /// Whether a record that is absent may be written again: see [`Complete::restore`](super::Complete::restore).
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
            State::Released(_) | State::Uncertain(_) | State::Completed(_) | State::Failed(_) => None,
        }
    }
}

/// The reply to [`Store::renew`](super::Store::renew).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RenewReply {
    /// The claim holds for another lease.
    Renewed,
    /// The record had vanished, or the server had gone back to before this claim; it was written again.
    Reasserted,
    /// The claim is still the caller's, but its outcome was declared uncertain: there is nothing more to hold on to. Its
    /// completion is accepted all the same.
    Uncertain,
    /// The record is absent, and the caller could not be sure of its lease: nothing was written. Whether anyone followed,
    /// nobody can tell.
    Absent,
    /// The claim is not the caller's any more, for good: another came after it, or it is settled or released.
    Lost,
    /// The record cannot be read; nothing was written.
    Corrupt(Corrupt),
}

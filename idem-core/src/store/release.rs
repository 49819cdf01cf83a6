//! [`Store::release`](super::Store::release): its request and its replies.

use crate::operation::Operation;
use crate::record::{Claimed, Corrupt, Fence, Record, Token};

/// The request of [`Store::release`](super::Store::release).
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
    /// What the body's error says of its effect. Without a body there is none.
    pub given_up: GivenUp,
    /// How long the released record is remembered, in milliseconds.
    pub retention: u64,
}

/// What an error says of the effect of the body that ended with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GivenUp {
    /// The same call may run again.
    Released,
    /// The effect may or may not have happened: nothing runs until that is settled.
    Held,
    /// Nothing happened at all: a call with other arguments may follow.
    Rejected,
}

impl Release {
    pub(crate) fn is_of(&self, record: &Record, claimed: &Claimed) -> bool {
        claimed.token == self.token && self.fence.is_none_or(|fence| fence == record.fence)
    }
}

/// The reply to [`Store::release`](super::Store::release).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReleaseReply {
    /// The claim is given up; the next call runs.
    Released,
    /// The claim is given up, and its outcome is unknown.
    Uncertain,
    /// It was not the caller's to give up (any more): nothing was written.
    Unchanged,
    /// The record cannot be read; nothing was written.
    Corrupt(Corrupt),
}

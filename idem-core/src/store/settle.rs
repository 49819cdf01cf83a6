//! [`Store::settle`](super::Store::settle): its request and its replies.

use crate::operation::Operation;
use crate::record::{Corrupt, Ending, Fence, Kept, State};

/// The request of [`Store::settle`](super::Store::settle).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settle {
    /// Whose record.
    pub operation: Operation,
    /// The fence of the attempt that was looked at.
    pub fence: Fence,
    /// How it ended.
    pub settlement: Settlement,
    /// How long the settled record is remembered, in milliseconds.
    pub retention: u64,
}

/// How an attempt ended whose outcome nobody knew.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Settlement {
    /// It had its effect, and this is its result.
    Ended(Ending, Kept),
    /// It had no effect, or one that may happen again: the next call runs.
    RunAgain,
}

impl Settlement {
    /// The settled state; `None` where the next call runs.
    #[must_use]
    pub fn state(&self) -> Option<State> {
        match self {
            Self::Ended(ending, kept) => Some(State::settled(*ending, kept.clone())),
            Self::RunAgain => None,
        }
    }
}

/// The reply to [`Store::settle`](super::Store::settle).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettleReply {
    /// It is settled; an earlier request may have done it.
    Settled,
    /// The attempt runs: nothing was written.
    Live,
    /// The record is not that attempt's any more, or was settled otherwise: nothing was written.
    Changed,
    /// There is no record.
    Absent,
    /// The record cannot be read; nothing was written.
    Corrupt(Corrupt),
}

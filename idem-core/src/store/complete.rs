//! [`Store::complete`](super::Store::complete): its request and its replies.

use crate::fingerprint::Fingerprint;
use crate::operation::Operation;
use crate::record::{Claimed, Corrupt, Ending, Fence, Kept, Record, State, Token};

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

/// The request of [`Store::complete`](super::Store::complete).
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
    /// Whether the result is a value or an error that is final.
    pub ending: Ending,
    /// The result.
    pub kept: Kept,
    /// How long the result answers repeats, in milliseconds.
    pub retention: u64,
    /// Whether a record that is absent, or from before this claim, may be written again: only while the caller's own count
    /// of its lease is not over, so that this can be no expiry and nobody can have followed.
    pub restore: bool,
}

impl Complete {
    /// The settled record.
    #[must_use]
    pub fn record(&self) -> Record {
        Record {
            fingerprint: Some(self.fingerprint),
            fence: self.owner.fence,
            attempt: self.attempt,
            state: State::settled(self.ending, self.kept.clone()),
        }
    }
}

/// The reply to [`Store::complete`](super::Store::complete).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompleteReply {
    /// The result is kept.
    Completed,
    /// An earlier request of the same owner kept it.
    Already,
    /// The record had vanished, or the server had gone back to before this claim; it was written again, with the result.
    Restored,
    /// The record is absent, and the caller could not be sure of its lease: nothing was written.
    Absent,
    /// Another claim came after this one: nothing was written.
    Lost,
    /// The record cannot be read; nothing was written.
    Corrupt(Corrupt),
}

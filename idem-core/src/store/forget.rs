//! [`Store::forget`](super::Store::forget): its request and its replies.

use crate::operation::Operation;
use crate::record::{Corrupt, Fence};

/// The request of [`Store::forget`](super::Store::forget).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Forget {
    /// Whose record.
    pub operation: Operation,
    /// The fence of the attempt that was looked at.
    pub fence: Fence,
    /// Whether a claim that is held is freed as well. Its body goes on until it hears of that, while another may run.
    pub force: bool,
    /// How long a released record is remembered, in milliseconds.
    pub retention: u64,
}

/// The reply to [`Store::forget`](super::Store::forget).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForgetReply {
    /// The settled record is gone: the next call runs, with any arguments.
    Deleted,
    /// The unsettled record is a released one: the next call runs, with the same arguments.
    Released,
    /// The attempt runs: nothing was written.
    Live,
    /// The record is not that attempt's any more: nothing was written.
    Changed,
    /// There is no record.
    Absent,
    /// The record cannot be read; nothing was written.
    Corrupt(Corrupt),
}

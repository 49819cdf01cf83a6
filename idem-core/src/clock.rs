//! The two clocks that a call reads. Neither decides about a lease: the store's own clock does.

use std::time::{Duration, SystemTime};

use crate::record::Fence;

/// A moment on this process's monotonic clock. It is tokio's, so that tests can pause it.
pub(crate) use tokio::time::Instant;

/// The fence to propose: the wall clock in microseconds since 1970. It makes fences rise beyond a record's retention,
/// where nothing is left to compare with; while there is a record, that record decides.
pub(crate) fn proposed_fence() -> Fence {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Fence::new(u64::try_from(since_1970.as_micros()).unwrap_or(u64::MAX - 1).max(1))
}

/// How long ago a claim with this fence was made: fences are microseconds of the wall clock, unless clocks differed.
pub(crate) fn age(fence: Fence) -> Duration {
    Duration::from_micros(proposed_fence().get().saturating_sub(fence.get()))
}

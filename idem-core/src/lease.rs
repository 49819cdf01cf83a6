//! A held claim's lease, as its holder may count on it.

use std::time::Duration;

use crate::clock::Instant;

/// How long a holder is sure of its claim.
///
/// The server decides when a lease is over. The holder counts on this process's monotonic clock, from before the *first*
/// request that can have won the claim was sent, and gives up a hundredth (two clocks drift) and two milliseconds (the
/// server rounds), so that it never counts on more than the server grants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lease {
    length: Duration,
    sure_until: Instant,
}

impl Lease {
    /// A lease of `millis`, whose first request was sent at `sent`.
    pub(crate) fn since(sent: Instant, millis: u64) -> Self {
        let length = Duration::from_millis(millis);
        let sure = (length * 99 / 100).saturating_sub(Duration::from_millis(2));
        Self { length, sure_until: sent + sure }
    }

    /// What is surely left.
    pub(crate) fn remaining(&self) -> Duration {
        self.sure_until.saturating_duration_since(Instant::now())
    }

    /// Whether there is enough left to begin with.
    pub(crate) fn is_worth_starting(&self) -> bool {
        self.remaining() >= self.length / 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_holder_counts_on_less_than_the_server_grants() {
        let lease = Lease::since(Instant::now(), 1000);
        assert_eq!(lease.remaining(), Duration::from_millis(988));
        assert!(lease.is_worth_starting());
        tokio::time::advance(Duration::from_millis(700)).await;
        assert!(!lease.is_worth_starting());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(lease.remaining(), Duration::ZERO);
    }
}

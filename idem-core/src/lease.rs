//! A held claim's lease, as its holder may count on it.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use crate::clock::Instant;

/// How long a holder is sure of its claim, and whether it has been told otherwise.
///
/// The server decides when a lease is over. The holder counts on this process's monotonic clock, from before the *first*
/// request that can have won the claim was sent (a renewal: from before the one that was answered), and gives up a
/// hundredth (two clocks drift) and two milliseconds (the server rounds), so that it never counts on more than the server
/// grants.
#[derive(Debug)]
pub(crate) struct Lease {
    length: Duration,
    began: Instant,
    /// Microseconds after `began` up to which the holder is sure.
    sure_for: AtomicU64,
    standing: AtomicU8,
    vanished: AtomicBool,
    changed: Notify,
}

/// What became of a claim while its body ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Loss {
    /// The lease is over by the holder's own count, and the store cannot be asked. Nobody may have followed: a completion
    /// may still be accepted.
    Doubtful,
    /// Another call followed, or a person settled or freed the record. Final: what this attempt still writes is refused.
    Lost,
}

const SURE: u8 = 0;
const DOUBTFUL: u8 = 1;
const LOST: u8 = 2;

impl Lease {
    /// A lease of `millis`, whose first request was sent at `sent`.
    pub(crate) fn since(sent: Instant, millis: u64) -> Self {
        let lease = Self {
            length: Duration::from_millis(millis),
            began: sent,
            sure_for: AtomicU64::new(0),
            standing: AtomicU8::new(SURE),
            vanished: AtomicBool::new(false),
            changed: Notify::new(),
        };
        lease.extend(sent);
        lease
    }

    pub(crate) fn length(&self) -> Duration {
        self.length
    }

    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// When the holder's certainty ends.
    pub(crate) fn sure_until(&self) -> Instant {
        self.began + Duration::from_micros(self.sure_for.load(Ordering::Acquire))
    }

    /// What is surely left. Zero after a loss.
    pub(crate) fn remaining(&self) -> Duration {
        match self.loss() {
            Some(Loss::Lost) => Duration::ZERO,
            _ => self.sure_until().saturating_duration_since(Instant::now()),
        }
    }

    /// Whether there is enough left to begin with.
    pub(crate) fn is_worth_starting(&self) -> bool {
        self.remaining() >= self.length / 3
    }

    /// Counts anew from `sent`, when the answered renewal was sent.
    pub(crate) fn extend(&self, sent: Instant) {
        let sure = (self.length * 99 / 100).saturating_sub(Duration::from_millis(2));
        let until = sent.saturating_duration_since(self.began) + sure;
        self.sure_for.fetch_max(u64::try_from(until.as_micros()).unwrap_or(u64::MAX), Ordering::AcqRel);
        if self.sure_until() > Instant::now() {
            let _ = self.standing.compare_exchange(DOUBTFUL, SURE, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// What the holder has been told, if anything.
    pub(crate) fn loss(&self) -> Option<Loss> {
        match self.standing.load(Ordering::Acquire) {
            SURE => None,
            DOUBTFUL => Some(Loss::Doubtful),
            _ => Some(Loss::Lost),
        }
    }

    /// Tells the holder of the loss. Whether that was news.
    pub(crate) fn lose(&self) -> bool {
        let news = self.standing.swap(LOST, Ordering::AcqRel) != LOST;
        self.changed.notify_waiters();
        news
    }

    /// Tells the holder that it can not be sure any more, if its own count says so. Whether that was news.
    pub(crate) fn doubt(&self, now: Instant) -> bool {
        let over = self.sure_until() <= now;
        let news = over && self.standing.compare_exchange(SURE, DOUBTFUL, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if news {
            self.changed.notify_waiters();
        }
        news
    }

    /// Waits for a loss of at least the weight of `least`.
    pub(crate) async fn lost(&self, least: Loss) -> Loss {
        loop {
            let changed = self.changed.notified();
            if let Some(loss) = self.loss().filter(|loss| *loss >= least) {
                return loss;
            }
            changed.await;
        }
    }

    /// Remembers that the store had lost the record.
    pub(crate) fn note_vanished(&self) {
        self.vanished.store(true, Ordering::Release);
    }

    pub(crate) fn has_vanished(&self) -> bool {
        self.vanished.load(Ordering::Acquire)
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

    #[tokio::test(start_paused = true)]
    async fn a_renewal_counts_from_when_it_was_sent_and_never_backwards() {
        let lease = Lease::since(Instant::now(), 1000);
        let sent = Instant::now() + Duration::from_millis(300);
        tokio::time::advance(Duration::from_millis(500)).await;
        lease.extend(sent);
        assert_eq!(lease.remaining(), Duration::from_millis(788));
        lease.extend(sent - Duration::from_millis(200));
        assert_eq!(lease.remaining(), Duration::from_millis(788));
    }

    #[tokio::test(start_paused = true)]
    async fn doubt_passes_and_loss_is_final() {
        let lease = Lease::since(Instant::now(), 1000);
        assert!(!lease.doubt(Instant::now()));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(lease.doubt(Instant::now()));
        assert!(!lease.doubt(Instant::now()), "told once");
        assert_eq!(lease.lost(Loss::Doubtful).await, Loss::Doubtful);
        lease.extend(Instant::now());
        assert_eq!(lease.loss(), None);
        assert!(lease.lose());
        assert!(!lease.lose(), "told once");
        lease.extend(Instant::now());
        assert_eq!(lease.loss(), Some(Loss::Lost));
        assert_eq!(lease.remaining(), Duration::ZERO);
        assert_eq!(lease.lost(Loss::Lost).await, Loss::Lost);
    }
}

//! Who is inside an engine: the calls that run, and what they left to be sent. A closed engine lets nobody in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct Visits {
    inside: AtomicUsize,
    closed: AtomicBool,
    someone_left: Notify,
}

/// One who is inside, until it is dropped.
pub(crate) struct Visit(Arc<Visits>);

impl Visits {
    /// Lets a call in, unless the engine is closed.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Visit> {
        let visit = Visit::of(self);
        // Looked at after it was counted: whoever closes either sees this visit, or is seen.
        (!self.is_closed()).then_some(visit)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Lets nobody in any more, and waits until all have left, but no longer than `limit`. How many stayed.
    pub(crate) async fn close(&self, limit: Duration) -> usize {
        self.closed.store(true, Ordering::SeqCst);
        let all_left = async {
            loop {
                let someone_left = self.someone_left.notified();
                if self.inside.load(Ordering::SeqCst) == 0 {
                    return;
                }
                someone_left.await;
            }
        };
        match tokio::time::timeout(limit, all_left).await {
            Ok(()) => 0,
            Err(_) => self.inside.load(Ordering::SeqCst),
        }
    }
}

impl Visit {
    fn of(visits: &Arc<Visits>) -> Self {
        visits.inside.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(visits))
    }
}

/// What a call leaves to be sent is as much inside as the call was.
impl Clone for Visit {
    fn clone(&self) -> Self {
        Self::of(&self.0)
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::SeqCst);
        if self.0.is_closed() {
            self.0.someone_left.notify_waiters();
        }
    }
}

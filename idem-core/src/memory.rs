//! A store in this process: the protocol under a lock.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Instant;
use crate::operation::Operation;
use crate::protocol::{self, Step, Stored, Write};
use crate::record::Record;
use crate::store::{Claim, ClaimReply, Complete, CompleteReply, Release, ReleaseReply, Store, StoreError};

/// A [`Store`] in memory: for tests, and for what need not outlive one process. It follows tokio's clock, so a paused
/// clock moves its leases and retentions.
#[derive(Default)]
pub struct MemoryStore {
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    by_text: HashMap<String, Entry>,
    /// At this many entries the expired ones are swept out.
    sweep_at: usize,
}

struct Entry {
    record: Record,
    ends: Instant,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn apply<R>(&self, operation: &Operation, decide: impl FnOnce(Option<Stored<'_>>) -> Step<R>) -> R {
        let now = Instant::now();
        let mut entries = self.lock();
        let stored = entries.by_text.get(operation.text()).filter(|entry| entry.ends > now);
        let Step { reply, write } = decide(stored.map(|entry| entry.stored(now)));
        if let Write::Put { record, life } = write {
            entries.put(operation, record, life, now);
        }
        reply
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        // A step is one `insert` after all that can panic, so a poisoned map is still whole.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn put(&mut self, operation: &Operation, record: Record, life: u64, now: Instant) {
        let ends = now + Duration::from_millis(life);
        if let Some(entry) = self.by_text.get_mut(operation.text()) {
            *entry = Entry { record, ends };
            return;
        }
        if self.by_text.len() >= self.sweep_at {
            self.by_text.retain(|_, entry| entry.ends > now);
            self.sweep_at = 1024.max(self.by_text.len() * 2);
        }
        self.by_text.insert(operation.text().to_owned(), Entry { record, ends });
    }
}

impl Entry {
    fn stored(&self, now: Instant) -> Stored<'_> {
        let left = self.ends.duration_since(now).as_millis();
        Stored { record: &self.record, left: Some(u64::try_from(left).unwrap_or(u64::MAX)) }
    }
}

impl Store for MemoryStore {
    async fn claim(&self, request: &Claim) -> Result<ClaimReply, StoreError> {
        Ok(self.apply(&request.operation, |stored| protocol::claim(stored, request)))
    }

    async fn complete(&self, request: &Complete) -> Result<CompleteReply, StoreError> {
        Ok(self.apply(&request.operation, |stored| protocol::complete(stored, request)))
    }

    async fn release(&self, request: &Release) -> Result<ReleaseReply, StoreError> {
        Ok(self.apply(&request.operation, |stored| protocol::release(stored, request)))
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("records", &self.lock().by_text.len()).finish_non_exhaustive()
    }
}

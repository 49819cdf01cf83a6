//! A store in this process: the protocol under a lock.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Instant;
use crate::operation::Operation;
use crate::protocol::{self, Step, Stored, Write};
use crate::record::Record;
use crate::store::{
    Claim, ClaimReply, Complete, CompleteReply, Forget, ForgetReply, Found, InspectReply, Page, Release, ReleaseReply,
    Renew, RenewReply, Settle, SettleReply, Store, StoreError, Survey,
};

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
        match write {
            Write::Nothing => {}
            Write::Put { record, life } => entries.put(operation, record, life, now),
            Write::Extend { life } => entries.extend(operation, life, now),
            Write::Delete => drop(entries.by_text.remove(operation.text())),
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

    fn extend(&mut self, operation: &Operation, life: u64, now: Instant) {
        if let Some(entry) = self.by_text.get_mut(operation.text()) {
            entry.ends = now + Duration::from_millis(life);
        }
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

    async fn renew(&self, request: &Renew) -> Result<RenewReply, StoreError> {
        Ok(self.apply(&request.operation, |stored| protocol::renew(stored, request)))
    }

    async fn complete(&self, request: &Complete) -> Result<CompleteReply, StoreError> {
        Ok(self.apply(&request.operation, |stored| protocol::complete(stored, request)))
    }

    async fn release(&self, request: &Release) -> Result<ReleaseReply, StoreError> {
        Ok(self.apply(&request.operation, |stored| protocol::release(stored, request)))
    }

    async fn settle(&self, request: &Settle) -> Result<SettleReply, StoreError> {
        Ok(self.apply(&request.operation, |stored| protocol::settle(stored, request)))
    }

    async fn forget(&self, request: &Forget) -> Result<ForgetReply, StoreError> {
        Ok(self.apply(&request.operation, |stored| protocol::forget(stored, request)))
    }

    async fn inspect(&self, operation: &Operation) -> Result<InspectReply, StoreError> {
        let now = Instant::now();
        let entries = self.lock();
        let stored = entries.by_text.get(operation.text()).filter(|entry| entry.ends > now);
        Ok(protocol::inspect(stored.map(|entry| entry.stored(now))))
    }

    /// All at once: there is nobody to hold up.
    async fn survey(&self, request: &Survey) -> Result<Page, StoreError> {
        let now = Instant::now();
        let prefix = request.name.as_deref().map(Operation::prefix_of);
        let entries = self.lock();
        let living = entries.by_text.iter().filter(|(_, entry)| entry.ends > now);
        let asked_for = living.filter(|(text, _)| prefix.as_ref().is_none_or(|prefix| text.starts_with(prefix)));
        let found = asked_for.map(|(text, entry)| {
            let reply = protocol::inspect(Some(entry.stored(now)));
            Found { text: text.clone(), reply }
        });
        Ok(Page { found: found.collect(), next: None })
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("records", &self.lock().by_text.len()).finish_non_exhaustive()
    }
}

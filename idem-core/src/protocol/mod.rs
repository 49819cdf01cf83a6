//! The protocol as pure functions, a file per verb: what is stored and a request in; a reply and what to write out.
//!
//! This is the executable specification. [`MemoryStore`](crate::MemoryStore) runs it under a lock; the scripts of a Redis
//! store say the same in Lua, and tests hold the two against each other. No function reads a clock: time comes in as what
//! is left of the record's life, which the store counts.

mod claim;
mod complete;
mod forget;
mod inspect;
mod release;
mod renew;
mod settle;

pub use claim::{claim, recognise};
pub use complete::complete;
pub use forget::forget;
pub use inspect::inspect;
pub use release::{release, release_without_memory};
pub use renew::renew;
pub use settle::settle;

use crate::record::{Claimed, Corrupt, Fence, Record, State};

/// An unknown outcome is remembered for at least this long, in milliseconds: seven days, for a person to settle it.
pub const UNCERTAIN_LINGER: u64 = 7 * 86_400_000;

/// What a store holds for an identity.
#[derive(Debug, Clone, Copy)]
pub struct Stored<'a> {
    /// The record.
    pub record: &'a Record,
    /// What is left of its life in milliseconds; `None` for a record that never expires, which no verb leaves behind.
    pub left: Option<u64>,
}

/// What a verb does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<R> {
    /// The answer.
    pub reply: R,
    /// What changes.
    pub write: Write,
}

/// What changes in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Nothing: neither the record nor the rest of its life.
    Nothing,
    /// The record is replaced.
    Put {
        /// The new record.
        record: Record,
        /// Its life in milliseconds.
        life: u64,
    },
    /// The record stays as it is and lives anew.
    Extend {
        /// Its life in milliseconds, from now.
        life: u64,
    },
    /// The record goes.
    Delete,
}

impl<R> Step<R> {
    fn unchanged(reply: R) -> Self {
        Self { reply, write: Write::Nothing }
    }

    fn put(reply: R, record: Record, life: u64) -> Self {
        Self { reply, write: Write::Put { record, life } }
    }
}

impl Stored<'_> {
    /// What is left of the lease of a record in flight, in milliseconds. Zero: it is over.
    fn lease_left(&self, claimed: &Claimed) -> Result<u64, Corrupt> {
        let left = self.left.ok_or(Corrupt::NoExpiry)?;
        Ok(left.saturating_sub(claimed.floor))
    }

    /// Whether the server has gone back in time, to before the claim with this `fence` and `attempt`, and nobody has come
    /// since: after a failover to a replica that had not seen that claim. To whoever is sure of its lease the record is then
    /// as good as absent.
    fn is_behind(&self, fence: Fence, attempt: u32) -> bool {
        let idle = match &self.record.state {
            State::InFlight(claimed) => self.lease_left(claimed) == Ok(0),
            State::Released(_) | State::Uncertain(_) => true,
            State::Completed(_) | State::Failed(_) => false,
        };
        idle && self.record.fence < fence && self.record.attempt < attempt
    }
}

/// The same record with an outcome that nobody knows.
fn uncertain(record: &Record, claimed: &Claimed) -> Record {
    Record { state: State::Uncertain(*claimed), ..record.clone() }
}

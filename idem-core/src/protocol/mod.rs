//! The protocol as pure functions, a file per verb: what is stored and a request in; a reply and what to write out.
//!
//! This is the executable specification. [`MemoryStore`](crate::MemoryStore) runs it under a lock; the scripts of a Redis
//! store say the same in Lua, and tests hold the two against each other. No function reads a clock: time comes in as what
//! is left of the record's life, which the store counts.

mod claim;
mod complete;
mod release;
mod renew;

pub use claim::{claim, recognise};
pub use complete::complete;
pub use release::release;
pub use renew::renew;

use crate::record::{Corrupt, Record};

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
    fn left(&self) -> Result<u64, Corrupt> {
        self.left.ok_or(Corrupt::NoExpiry)
    }
}

//! [`Store::inspect`](super::Store::inspect) and [`Store::survey`](super::Store::survey): what they show.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::clock;
use crate::record::{Corrupt, Fence};

/// What is known of one identity. Neither its arguments nor its result are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// Where it stands.
    pub standing: Standing,
    /// The fence of the latest claim.
    pub fence: Fence,
    /// How many claims it has seen.
    pub attempt: u32,
    /// What is left of the record's life; `None` if it never expires.
    pub expires_in: Option<Duration>,
}

/// The reply to [`Store::inspect`](super::Store::inspect).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InspectReply {
    /// What is known.
    Known(Inspection),
    /// There is no record: the identity was never seen, or its retention is over.
    Absent,
    /// The record cannot be read.
    Corrupt(Corrupt),
}

/// Where an identity stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// An attempt runs.
    InFlight {
        /// What is left of its lease.
        left: Duration,
    },
    /// An attempt's lease ran out, and nobody has met it since: its outcome is unknown.
    Abandoned,
    /// The latest attempt gave up unfinished; the next call runs.
    Released,
    /// The outcome is unknown, and nothing runs until it is settled.
    Uncertain,
    /// Finished; the result is kept.
    Completed,
    /// Finished with an error that is final; it is kept.
    Failed,
}

impl Standing {
    /// The standing as one word, as metrics show it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InFlight { .. } => "in_flight",
            Self::Abandoned => "abandoned",
            Self::Released => "released",
            Self::Uncertain => "uncertain",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}

impl Inspection {
    /// How long ago the latest claim was made, by the wall clocks of its host and this one.
    #[must_use]
    pub fn age(&self) -> Duration {
        clock::age(self.fence)
    }

    /// Whether the outcome is unknown: it waits for its owner, for a call that asks, or for a person.
    #[must_use]
    pub const fn is_unsettled(&self) -> bool {
        matches!(self.standing, Standing::Abandoned | Standing::Uncertain)
    }
}

/// The request of [`Store::survey`](super::Store::survey).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Survey {
    /// Of the operation with this name alone.
    pub name: Option<Cow<'static, str>>,
    /// Where to go on: [`Page::next`] of the page before; `None` to begin.
    pub from: Option<Cursor>,
}

/// A place in a survey, in the store's own terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor(pub u64);

/// A part of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The records, in no order. One that changes meanwhile may be missed or come twice.
    pub found: Vec<Found>,
    /// Where the next part begins; `None` if this was the last.
    pub next: Option<Cursor>,
}

/// A record that a survey met.
#[derive(Clone, PartialEq, Eq)]
pub struct Found {
    /// The identity's text form, which names the caller's key: [`Operation::from_text`](crate::Operation::from_text) reads
    /// it.
    pub text: String,
    /// What is known of it.
    pub reply: InspectReply,
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Found").field("reply", &self.reply).finish_non_exhaustive()
    }
}

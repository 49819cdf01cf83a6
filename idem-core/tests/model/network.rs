//! What is on its way between workers, people and the server.

use std::hash::{Hash, Hasher};

use idem_core::store::GivenUp;

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Verb {
    None,
    Claim,
    Renew,
    Complete,
    /// After its body ran.
    Release,
    /// By the token alone: nothing ran.
    Retract,
    /// These two are people's.
    Settle,
    Forget,
}

impl Verb {
    /// Whether a person sends it.
    pub(crate) fn is_of_people(self) -> bool {
        matches!(self, Self::Settle | Self::Forget)
    }
}

/// A request in the network. What else a worker's carries is its own, which keeps it as long as the request is on its way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Request {
    pub(crate) verb: Verb,
    /// Which worker's; of a person's request: whose record was looked at.
    pub(crate) from: u8,
    /// Which of a worker's renewals it is; of a person's request: the fence that was seen.
    pub(crate) number: u8,
    /// See [`HELD`] and the like.
    pub(crate) choice: u8,
    pub(crate) restore: bool,
    /// In ticks; counted only where records expire.
    pub(crate) age: u8,
}

/// The choices of a release.
pub(crate) const GIVEN_UP: [GivenUp; 3] = [GivenUp::Released, GivenUp::Held, GivenUp::Rejected];
pub(crate) const RELEASED: u8 = 0;
pub(crate) const HELD: u8 = 1;
pub(crate) const REJECTED: u8 = 2;
/// The choices of a completion.
pub(crate) const COMPLETED: u8 = 0;
pub(crate) const FAILED: u8 = 1;
/// The choices of a settlement.
pub(crate) const ENDED: u8 = 0;
pub(crate) const RUN_AGAIN: u8 = 1;
/// The choice of a forgetting.
pub(crate) const FORCED: u8 = 1;

impl Request {
    pub(crate) const NONE: Self = Self { verb: Verb::None, from: 0, number: 0, choice: 0, restore: false, age: 0 };
}

/// A reply in the network. Only those that let a worker go on: hearing any other is like crashing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Heard {
    pub(crate) verb: Verb,
    pub(crate) to: u8,
    pub(crate) number: u8,
    pub(crate) fence: u8,
    pub(crate) attempt: u8,
    pub(crate) origin: u8,
}

impl Heard {
    pub(crate) const NONE: Self = Self { verb: Verb::None, to: 0, number: 0, fence: 0, attempt: 0, origin: 0 };
}

// Each in one word: derived, hashing would be most of the work.

impl Hash for Request {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let word = [self.verb as u8, self.from, self.number, self.choice, self.restore.into(), self.age, 0, 0];
        hasher.write_u64(u64::from_le_bytes(word));
    }
}

impl Hash for Heard {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let word = [self.verb as u8, self.to, self.number, self.fence, self.attempt, self.origin, 0, 0];
        hasher.write_u64(u64::from_le_bytes(word));
    }
}

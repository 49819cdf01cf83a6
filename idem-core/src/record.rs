//! What a store keeps for one identity: a fixed-width ASCII header, then the payload. Data only; the rules are in
//! [`protocol`](crate::protocol). The layout is written down in `docs/record-layout.md` and pinned by golden bytes.

mod trace;
mod wire;

use std::fmt;

use bytes::Bytes;

use crate::codec::Codec;
use crate::digits;
use crate::fingerprint::Fingerprint;

pub use trace::TraceContext;

/// One identity's record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The digest of the arguments that the record is bound to; `None` where the next claim binds its own: only a released
    /// record is ever that open.
    pub fingerprint: Option<Fingerprint>,
    /// The fence of the latest claim.
    pub fence: Fence,
    /// How many claims this identity has seen.
    pub attempt: u32,
    /// Where the identity stands.
    pub state: State,
}

/// Where an identity stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// Claimed, not finished.
    InFlight(Claimed),
    /// Given up unfinished; the next call runs.
    Released(Claimed),
    /// The effect may or may not have happened, and nothing runs until that is settled: by the late owner, by who claims it
    /// to ask, or by a person.
    Uncertain(Claimed),
    /// Finished; the result is kept.
    Completed(Kept),
    /// Finished with an error that is final; it is kept.
    Failed(Kept),
}

/// How a settled operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With a value.
    Completed,
    /// With an error that is final.
    Failed,
}

/// What an unfinished record says of its claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claimed {
    /// Proves that a write comes from the holder of the claim.
    pub token: Token,
    /// The lease is over exactly when the record's remaining life is at most this many milliseconds.
    pub floor: u64,
    /// How the claim was won; in a released record, how the next one is.
    pub origin: Origin,
}

/// How a claim was won.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// Nothing was known of the identity.
    First,
    /// The attempt before gave up unfinished.
    Released,
    /// The lease of the attempt before ran out: it may have had its effect.
    Takeover,
    /// The attempt before gave up unfinished, but an earlier one was taken over, or its outcome stayed unknown: that one may
    /// have had its effect.
    AfterTakeover,
    /// The outcome of an earlier attempt is unknown, and this claim was won to ask for it before anything runs. Should it
    /// end without an answer, the outcome is as unknown as before.
    Doubt,
}

/// A kept result.
#[derive(Clone, PartialEq, Eq)]
pub struct Kept {
    /// How the payload is encoded; `None` where the value could not be kept.
    pub codec: Option<Codec>,
    /// The encoded value.
    pub payload: Bytes,
    /// What it was made in, where that is traced (feature `opentelemetry`).
    pub trace: Option<TraceContext>,
}

/// A number handed out with each claim, rising for one identity. A downstream store that remembers the highest fence it
/// has seen can refuse a late owner (`… WHERE fence < $1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(u64);

/// The random proof of ownership of one claim. Never shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Token(u128);

/// A record that cannot be read, or that no rule of the protocol could have left. Nothing runs on it, nothing is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Corrupt {
    /// The value is no record, or a damaged one.
    #[error("the stored value is no readable record")]
    Unreadable,
    /// Written by a release of idem that this one cannot read.
    #[error("the record's format version is unknown to this release")]
    UnknownVersion,
    /// The fingerprint was made by a scheme that this release does not know.
    #[error("the record's fingerprint scheme is unknown to this release")]
    UnknownScheme,
    /// The result was encoded by a codec that this release does not know, or was built without.
    #[error("the record's codec is unknown to this build")]
    UnknownCodec,
    /// The value has a type that no record has.
    #[error("the stored value has a foreign type")]
    ForeignType,
    /// An unfinished record that would never expire.
    #[error("the record has no expiry")]
    NoExpiry,
    /// No greater fence can be handed out.
    #[error("the record's fence is at its limit")]
    FenceLimit,
}

impl State {
    /// The settled state that keeps `kept`.
    #[must_use]
    pub const fn settled(ending: Ending, kept: Kept) -> Self {
        match ending {
            Ending::Completed => Self::Completed(kept),
            Ending::Failed => Self::Failed(kept),
        }
    }

    /// What is said of the claim of an unfinished record.
    #[must_use]
    pub const fn claimed(&self) -> Option<&Claimed> {
        match self {
            Self::InFlight(claimed) | Self::Released(claimed) | Self::Uncertain(claimed) => Some(claimed),
            Self::Completed(_) | Self::Failed(_) => None,
        }
    }

    /// How a settled record ended, and what it keeps.
    #[must_use]
    pub const fn kept(&self) -> Option<(Ending, &Kept)> {
        match self {
            Self::Completed(kept) => Some((Ending::Completed, kept)),
            Self::Failed(kept) => Some((Ending::Failed, kept)),
            Self::InFlight(_) | Self::Released(_) | Self::Uncertain(_) => None,
        }
    }
}

impl Origin {
    /// Whether an earlier attempt ended without an answer, so that its effect may be there already.
    #[must_use]
    pub const fn follows_takeover(self) -> bool {
        matches!(self, Self::Takeover | Self::AfterTakeover | Self::Doubt)
    }

    /// Whether the claim was won to ask for an unknown outcome.
    #[must_use]
    pub const fn is_doubt(self) -> bool {
        matches!(self, Self::Doubt)
    }

    /// How the next claim is won, once this one is released after its body ran (`ran`) or with nothing run under it. That
    /// an attempt was taken over is not forgotten; while nothing has run since, the next claim is still that takeover.
    pub(crate) const fn after_release(self, ran: bool) -> Self {
        match self {
            Self::Takeover | Self::Doubt if ran => Self::AfterTakeover,
            Self::Takeover | Self::AfterTakeover | Self::Doubt => self,
            Self::First | Self::Released => Self::Released,
        }
    }
}

impl Fence {
    /// The fence of this number.
    #[must_use]
    pub const fn new(fence: u64) -> Self {
        Self(fence)
    }

    /// The number, for a downstream store.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The fence of a claim that follows this one: above it, and not below what was proposed.
    pub(crate) fn followed_by(self, proposed: Self) -> Result<Self, Corrupt> {
        let next = self.0.checked_add(1).ok_or(Corrupt::FenceLimit)?;
        Ok(Self(next.max(proposed.0)))
    }

    /// The text form, which sorts as the numbers do.
    #[must_use]
    pub fn to_text(self) -> [u8; wire::FENCE.width()] {
        digits::write(self.0.into())
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Token {
    /// A new token, unlike any other.
    #[must_use]
    pub fn random() -> Self {
        Self(rand::random())
    }

    /// The text form, as the record holds it.
    #[must_use]
    pub fn to_text(self) -> [u8; wire::TOKEN.width()] {
        digits::write(self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("codec", &self.codec).field("bytes", &self.payload.len()).finish_non_exhaustive()
    }
}

/// More attempts than this are counted as this many.
pub(crate) const MAX_ATTEMPT: u32 = (1 << 18) - 1;

/// The text form of a number of attempts, which sorts as the numbers do.
#[must_use]
pub fn attempt_text(attempt: u32) -> [u8; wire::ATTEMPT.width()] {
    digits::write(attempt.min(MAX_ATTEMPT).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_rise_to_the_limit_and_no_further() {
        let follow = |old, proposed| Fence(old).followed_by(Fence(proposed)).map(Fence::get);
        assert_eq!(follow(9_007_199_254_740_993, 0), Ok(9_007_199_254_740_994));
        assert_eq!(follow(1, 9_007_199_254_740_993), Ok(9_007_199_254_740_993));
        assert_eq!(follow(u64::MAX, 0), Err(Corrupt::FenceLimit));
    }
}

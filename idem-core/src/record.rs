//! What a store keeps for one identity: a fixed-width ASCII header, then the payload. Data only; the rules are in
//! [`protocol`](crate::protocol). The layout is written down in `docs/record-layout.md` and pinned by golden bytes.

use std::fmt;

use bytes::{Bytes, BytesMut};

use crate::codec::Codec;
use crate::digits;
use crate::fingerprint::{Fingerprint, SCHEME};

/// One identity's record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The digest of the arguments that the record is bound to.
    pub fingerprint: Fingerprint,
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
    /// Finished; the result is kept.
    Completed(Kept),
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
    /// The attempt before gave up unfinished, but an earlier one was taken over: that one may have had its effect.
    AfterTakeover,
}

/// A kept result.
#[derive(Clone, PartialEq, Eq)]
pub struct Kept {
    /// How the payload is encoded; `None` where the value could not be kept.
    pub codec: Option<Codec>,
    /// The encoded value.
    pub payload: Bytes,
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
    pub fn to_text(self) -> [u8; FENCE.width()] {
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
    pub fn to_text(self) -> [u8; TOKEN.width()] {
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

/// The format version that this release writes, and the only one it reads.
const VERSION: u8 = b'1';

/// Where a field stands in the header.
#[derive(Clone, Copy)]
struct Field(usize, usize);

impl Field {
    const fn width(self) -> usize {
        self.1 - self.0
    }

    fn of(self, record: &[u8]) -> &[u8] {
        &record[self.0..self.1]
    }
}

const FENCE: Field = Field(4, 15);
const ATTEMPT: Field = Field(15, 18);
const FINGERPRINT: Field = Field(18, SETTLED);
/// Settled records end their header here.
const SETTLED: usize = 40;
const TOKEN: Field = Field(SETTLED, 62);
const FLOOR: Field = Field(62, 75);
const ORIGIN: usize = 75;
const UNSETTLED: usize = 76;

/// More attempts than this are counted as this many.
pub(crate) const MAX_ATTEMPT: u32 = (1 << 18) - 1;

const NO_CODEC: u8 = b'-';

impl Record {
    /// The bytes that a store keeps.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        let (letter, codec, payload) = match &self.state {
            State::InFlight(_) => (b'I', None, &[][..]),
            State::Released(_) => (b'R', None, &[][..]),
            State::Completed(kept) => (b'C', kept.codec, &kept.payload[..]),
        };
        let mut bytes = BytesMut::with_capacity(UNSETTLED + payload.len());
        bytes.extend_from_slice(&[VERSION, letter, codec.map_or(NO_CODEC, Codec::letter), SCHEME]);
        bytes.extend_from_slice(&self.fence.to_text());
        bytes.extend_from_slice(&digits::write::<{ ATTEMPT.width() }>(self.attempt.min(MAX_ATTEMPT).into()));
        let fingerprint = u128::from_be_bytes(*self.fingerprint.as_bytes());
        bytes.extend_from_slice(&digits::write::<{ FINGERPRINT.width() }>(fingerprint));
        if let State::InFlight(claimed) | State::Released(claimed) = &self.state {
            bytes.extend_from_slice(&claimed.token.to_text());
            bytes.extend_from_slice(&decimal(claimed.floor));
            bytes.extend_from_slice(&[claimed.origin.letter()]);
        }
        bytes.extend_from_slice(payload);
        bytes.freeze()
    }

    /// Reads what a store kept. The payload shares the memory of `bytes`.
    ///
    /// # Errors
    ///
    /// [`Corrupt`], if this is no record that this release can read.
    pub fn from_bytes(bytes: &Bytes) -> Result<Self, Corrupt> {
        let [version, letter, codec, scheme, ..] = bytes[..] else {
            return Err(Corrupt::Unreadable);
        };
        if version != VERSION {
            return Err(if version.is_ascii_digit() { Corrupt::UnknownVersion } else { Corrupt::Unreadable });
        }
        if bytes.len() < SETTLED {
            return Err(Corrupt::Unreadable);
        }
        let state = match letter {
            b'I' if codec == NO_CODEC => State::InFlight(Claimed::from_bytes(bytes)?),
            b'R' if codec == NO_CODEC => State::Released(Claimed::from_bytes(bytes)?),
            b'C' if codec == NO_CODEC || codec.is_ascii_lowercase() => {
                State::Completed(Kept { codec: Codec::from_letter(codec), payload: bytes.slice(SETTLED..) })
            }
            _ => return Err(Corrupt::Unreadable),
        };
        if scheme != SCHEME {
            return Err(Corrupt::UnknownScheme);
        }
        let number = |field: Field| digits::read(field.of(bytes)).ok_or(Corrupt::Unreadable);
        let record = Self {
            fingerprint: Fingerprint::from_bytes(number(FINGERPRINT)?.to_be_bytes()),
            fence: Fence(u64::try_from(number(FENCE)?).map_err(|_| Corrupt::Unreadable)?),
            attempt: u32::try_from(number(ATTEMPT)?).map_err(|_| Corrupt::Unreadable)?,
            state,
        };
        // Last: to the scripts, which never look into a payload, all codecs are alike.
        match &record.state {
            State::Completed(Kept { codec: None, .. }) if codec != NO_CODEC => Err(Corrupt::UnknownCodec),
            _ => Ok(record),
        }
    }
}

/// `number` in as many decimal digits as the floor has: it is the one number that a script counts with.
fn decimal(mut number: u64) -> [u8; FLOOR.width()] {
    let mut text = [b'0'; FLOOR.width()];
    for digit in text.iter_mut().rev() {
        *digit += u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
    text
}

impl Claimed {
    fn from_bytes(bytes: &Bytes) -> Result<Self, Corrupt> {
        if bytes.len() != UNSETTLED {
            return Err(Corrupt::Unreadable);
        }
        let floor = FLOOR.of(bytes);
        let token = digits::read(TOKEN.of(bytes)).ok_or(Corrupt::Unreadable)?;
        let floor = std::str::from_utf8(floor)
            .ok()
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|text| text.parse().ok())
            .ok_or(Corrupt::Unreadable)?;
        let origin = Origin::from_letter(bytes[ORIGIN]).ok_or(Corrupt::Unreadable)?;
        Ok(Self { token: Token(token), floor, origin })
    }
}

impl Origin {
    /// Whether an earlier attempt ended without an answer, so that its effect may be there already.
    #[must_use]
    pub const fn follows_takeover(self) -> bool {
        matches!(self, Self::Takeover | Self::AfterTakeover)
    }

    /// How the next claim is won, once this one is released after its body ran (`ran`) or with nothing run under it. That
    /// an attempt was taken over is not forgotten; while nothing has run since, the next claim is still that takeover.
    pub(crate) const fn after_release(self, ran: bool) -> Self {
        match self {
            Self::Takeover if ran => Self::AfterTakeover,
            Self::Takeover | Self::AfterTakeover => self,
            Self::First | Self::Released => Self::Released,
        }
    }

    const fn letter(self) -> u8 {
        match self {
            Self::First => b'f',
            Self::Released => b'r',
            Self::Takeover => b't',
            Self::AfterTakeover => b's',
        }
    }

    const fn from_letter(letter: u8) -> Option<Self> {
        match letter {
            b'f' => Some(Self::First),
            b'r' => Some(Self::Released),
            b't' => Some(Self::Takeover),
            b's' => Some(Self::AfterTakeover),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(state: State) -> Record {
        Record {
            fingerprint: Fingerprint::from_bytes(*b"0123456789abcdef"),
            fence: Fence(1_764_505_936_123_456),
            attempt: 2,
            state,
        }
    }

    fn claimed() -> Claimed {
        Claimed { token: Token(7), floor: 86_369_998, origin: Origin::Takeover }
    }

    #[test]
    fn golden_bytes() {
        let golden = |state, text: &str| {
            let record = record(state);
            assert_eq!(record.to_bytes(), text.as_bytes());
            assert_eq!(Record::from_bytes(&record.to_bytes()), Ok(record));
        };
        golden(
            State::InFlight(claimed()),
            "1I-1--5GBwCWhO---1-kBI7nC2JqCnVtNL8YO5Ka---------------------60000086369998t",
        );
        golden(
            State::Released(claimed()),
            "1R-1--5GBwCWhO---1-kBI7nC2JqCnVtNL8YO5Ka---------------------60000086369998t",
        );
        let kept = |codec, payload| State::Completed(Kept { codec, payload: Bytes::from_static(payload) });
        golden(kept(Some(Codec::Json), br#"{"id":1}"#), r#"1Cj1--5GBwCWhO---1-kBI7nC2JqCnVtNL8YO5Ka{"id":1}"#);
        golden(kept(None, b""), "1C-1--5GBwCWhO---1-kBI7nC2JqCnVtNL8YO5Ka");
    }

    #[test]
    fn damaged_headers_are_corrupt() {
        let bytes = record(State::InFlight(claimed())).to_bytes();
        for at in 0..bytes.len() {
            let mut damaged = bytes.to_vec();
            damaged[at] = b'!';
            assert!(Record::from_bytes(&damaged.into()).is_err(), "byte {at}");
            assert!(Record::from_bytes(&bytes.slice(..at)).is_err(), "cut at {at}");
        }
        let newer = Bytes::from([b"2", &bytes[1..]].concat());
        assert_eq!(Record::from_bytes(&newer), Err(Corrupt::UnknownVersion));
    }

    #[test]
    fn a_codec_that_is_not_built_in_is_no_damage() {
        let read = |codec: u8| {
            let bytes = [b"1C", &[codec][..], b"1--5GBwCWhO---1-kBI7nC2JqCnVtNL8YO5Ka{}"].concat();
            Record::from_bytes(&bytes.into()).map(drop)
        };
        for letter in b'a'..=b'z' {
            let known = Codec::from_letter(letter).ok_or(Corrupt::UnknownCodec);
            assert_eq!(read(letter), known.map(drop));
        }
        for damaged in [b'J', b'0', b'{', 0xe9] {
            assert_eq!(read(damaged), Err(Corrupt::Unreadable));
        }
    }

    #[test]
    fn fences_rise_to_the_limit_and_no_further() {
        let follow = |old, proposed| Fence(old).followed_by(Fence(proposed)).map(Fence::get);
        assert_eq!(follow(9_007_199_254_740_993, 0), Ok(9_007_199_254_740_994));
        assert_eq!(follow(1, 9_007_199_254_740_993), Ok(9_007_199_254_740_993));
        assert_eq!(follow(u64::MAX, 0), Err(Corrupt::FenceLimit));
    }

    proptest! {
        #[test]
        fn random_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = Record::from_bytes(&bytes.into());
        }
    }
}

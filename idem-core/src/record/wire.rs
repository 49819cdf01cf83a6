//! The record's wire form. The layout is written down in `docs/record-layout.md` and pinned by golden bytes.

use bytes::{Bytes, BytesMut};

use crate::codec::Codec;
use crate::digits;
use crate::fingerprint::{Fingerprint, SCHEME};

use super::{Claimed, Corrupt, Fence, Kept, Origin, Record, State, Token, TraceContext, attempt_text};

/// The format version that this release writes, and the only one it reads.
const VERSION: u8 = b'1';

/// Where a field stands in the header.
#[derive(Clone, Copy)]
pub(super) struct Field(usize, usize);

impl Field {
    pub(super) const fn width(self) -> usize {
        self.1 - self.0
    }

    fn of(self, record: &[u8]) -> &[u8] {
        &record[self.0..self.1]
    }
}

pub(super) const FENCE: Field = Field(4, 15);
pub(super) const ATTEMPT: Field = Field(15, 18);
const FINGERPRINT: Field = Field(18, SETTLED);
/// Settled records end their header here.
const SETTLED: usize = 40;
pub(super) const TOKEN: Field = Field(SETTLED, 62);
const FLOOR: Field = Field(62, 75);
const ORIGIN: usize = 75;
const UNSETTLED: usize = 76;

const NO_CODEC: u8 = b'-';
/// Instead of a fingerprint's scheme: the record is bound to no arguments.
const OPEN: u8 = b'-';

impl Record {
    /// The bytes that a store keeps.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        let letter = match &self.state {
            State::InFlight(_) => b'I',
            State::Released(_) => b'R',
            State::Uncertain(_) => b'U',
            State::Completed(_) => b'C',
            State::Failed(_) => b'F',
        };
        let kept = self.state.kept().map(|(_, kept)| kept);
        let payload = kept.map_or(&[][..], |kept| &kept.payload);
        let (scheme, fingerprint) = match self.fingerprint {
            Some(fingerprint) => (SCHEME, u128::from_be_bytes(*fingerprint.as_bytes())),
            None => (OPEN, 0),
        };
        let mut bytes = BytesMut::with_capacity(UNSETTLED + payload.len());
        bytes.extend_from_slice(&[VERSION, letter, kept.map_or(NO_CODEC, Kept::codec_letter), scheme]);
        bytes.extend_from_slice(&self.fence.to_text());
        bytes.extend_from_slice(&attempt_text(self.attempt));
        bytes.extend_from_slice(&digits::write::<{ FINGERPRINT.width() }>(fingerprint));
        if let Some(claimed) = self.state.claimed() {
            bytes.extend_from_slice(&claimed.token.to_text());
            bytes.extend_from_slice(&decimal(claimed.floor));
            bytes.extend_from_slice(&[claimed.origin.letter()]);
        }
        if let Some(trace) = kept.and_then(Kept::written_trace) {
            bytes.extend_from_slice(&trace.to_text());
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
        let kept = || Kept::from_bytes(codec, bytes.slice(SETTLED..));
        let is_codec = codec == NO_CODEC || codec.is_ascii_lowercase();
        let state = match letter {
            b'I' if codec == NO_CODEC => State::InFlight(Claimed::from_bytes(bytes)?),
            b'R' if codec == NO_CODEC => State::Released(Claimed::from_bytes(bytes)?),
            b'U' if codec == NO_CODEC => State::Uncertain(Claimed::from_bytes(bytes)?),
            b'C' if is_codec => State::Completed(kept()),
            b'F' if is_codec => State::Failed(kept()),
            _ => return Err(Corrupt::Unreadable),
        };
        let number = |field: Field| digits::read(field.of(bytes)).ok_or(Corrupt::Unreadable);
        let fingerprint = match (scheme, &state) {
            (SCHEME, _) => Some(Fingerprint::from_bytes(number(FINGERPRINT)?.to_be_bytes())),
            // Never after an attempt that may have had its effect: that one had it with the arguments it was bound to.
            (OPEN, State::Released(claimed))
                if claimed.origin == Origin::Released && FINGERPRINT.of(bytes).iter().all(|&digit| digit == OPEN) =>
            {
                None
            }
            _ => return Err(Corrupt::UnknownScheme),
        };
        let record = Self {
            fingerprint,
            fence: Fence(u64::try_from(number(FENCE)?).map_err(|_| Corrupt::Unreadable)?),
            attempt: u32::try_from(number(ATTEMPT)?).map_err(|_| Corrupt::Unreadable)?,
            state,
        };
        // Last: to the scripts, which never look into a payload, all codecs are alike.
        match record.state.kept() {
            Some((_, Kept { codec: None, .. })) if codec != NO_CODEC => Err(Corrupt::UnknownCodec),
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

impl Kept {
    /// The trace context, where there is a codec whose letter can tell of it.
    fn written_trace(&self) -> Option<TraceContext> {
        self.trace.filter(|_| self.codec.is_some())
    }

    fn codec_letter(&self) -> u8 {
        match self.codec {
            Some(codec) if self.trace.is_some() => traced_letter(codec),
            Some(codec) => codec.letter(),
            None => NO_CODEC,
        }
    }

    /// Without a codec, if it is not known.
    fn from_bytes(letter: u8, payload: Bytes) -> Self {
        let traced = ALL_CODECS.iter().copied().find(|codec| traced_letter(*codec) == letter);
        match traced.filter(|_| payload.len() >= TraceContext::WIDTH) {
            Some(codec) => Self {
                codec: Some(codec),
                trace: TraceContext::from_text(&payload[..TraceContext::WIDTH]),
                payload: payload.slice(TraceContext::WIDTH..),
            },
            None => Self { codec: Codec::from_letter(letter), payload, trace: None },
        }
    }
}

/// The letter of a codec whose payload stands behind a trace context.
const fn traced_letter(codec: Codec) -> u8 {
    match codec {
        Codec::Json => b'k',
        #[cfg(feature = "messagepack")]
        Codec::MessagePack => b'n',
    }
}

const ALL_CODECS: &[Codec] = &[
    Codec::Json,
    #[cfg(feature = "messagepack")]
    Codec::MessagePack,
];

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
    const fn letter(self) -> u8 {
        match self {
            Self::First => b'f',
            Self::Released => b'r',
            Self::Takeover => b't',
            Self::AfterTakeover => b's',
            Self::Doubt => b'd',
        }
    }

    const fn from_letter(letter: u8) -> Option<Self> {
        match letter {
            b'f' => Some(Self::First),
            b'r' => Some(Self::Released),
            b't' => Some(Self::Takeover),
            b's' => Some(Self::AfterTakeover),
            b'd' => Some(Self::Doubt),
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
            fingerprint: Some(Fingerprint::from_bytes(*b"0123456789abcdef")),
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
        let kept = |codec, payload| State::Completed(Kept { codec, payload: Bytes::from_static(payload), trace: None });
        golden(kept(Some(Codec::Json), br#"{"id":1}"#), r#"1Cj1--5GBwCWhO---1-kBI7nC2JqCnVtNL8YO5Ka{"id":1}"#);
        golden(kept(None, b""), "1C-1--5GBwCWhO---1-kBI7nC2JqCnVtNL8YO5Ka");
        golden(
            State::Uncertain(Claimed { origin: Origin::Doubt, ..claimed() }),
            "1U-1--5GBwCWhO---1-kBI7nC2JqCnVtNL8YO5Ka---------------------60000086369998d",
        );
        let failed = Kept { codec: Some(Codec::Json), payload: Bytes::from_static(br#""declined""#), trace: None };
        golden(State::Failed(failed.clone()), r#"1Fj1--5GBwCWhO---1-kBI7nC2JqCnVtNL8YO5Ka"declined""#);
        // W3C's own example: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.
        let trace = TraceContext {
            trace_id: 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736,
            span_id: 0x00f0_67aa_0ba9_02b7,
            flags: 1,
        };
        let traced = Kept { trace: Some(trace), ..failed };
        golden(
            State::Completed(traced),
            r#"1Ck1--5GBwCWhO---1-kBI7nC2JqCnVtNL8YO5Ka0AyHwpSvCCdeEDZdoD2ZRq-2kOucAeF9r-0"declined""#,
        );
    }

    #[test]
    fn only_a_released_record_is_bound_to_no_arguments() {
        let open = |state| Record { fingerprint: None, ..record(state) }.to_bytes();
        let claimed = || Claimed { origin: Origin::Released, ..claimed() };
        let released = open(State::Released(claimed()));
        let text = "1R----5GBwCWhO---1-------------------------------------------60000086369998r";
        assert_eq!(released, text.as_bytes());
        assert_eq!(Record::from_bytes(&released).map(|record| record.fingerprint), Ok(None));
        let after_takeover = Claimed { origin: Origin::AfterTakeover, ..claimed() };
        for bound in [State::InFlight(claimed()), State::Uncertain(claimed()), State::Released(after_takeover)] {
            assert_eq!(Record::from_bytes(&open(bound)), Err(Corrupt::UnknownScheme));
        }
        let mut half_open = released.to_vec();
        half_open[20] = b'1';
        assert_eq!(Record::from_bytes(&half_open.into()), Err(Corrupt::UnknownScheme));
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
        for letter in (b'a'..=b'z').filter(|letter| *letter != b'k' && *letter != b'n') {
            let known = Codec::from_letter(letter).ok_or(Corrupt::UnknownCodec);
            assert_eq!(read(letter), known.map(drop));
        }
        // No place for a trace context.
        assert_eq!(read(b'k'), Err(Corrupt::UnknownCodec));
        for damaged in [b'J', b'0', b'{', 0xe9] {
            assert_eq!(read(damaged), Err(Corrupt::Unreadable));
        }
    }

    proptest! {
        #[test]
        fn random_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = Record::from_bytes(&bytes.into());
        }
    }
}

//! MessagePack: compact, and closer to Rust's values than JSON.
//!
//! Structs are written as maps with the names of their fields, so that a field with a default can be added later. Types
//! that have a form for people are written in it, as in JSON: what serde buffers (flattened fields, tagged enums) is read
//! back in that form by every format.

use rmp::{Marker, encode};
use rmp_serde::decode::Error;
use rmp_serde::{Deserializer, Serializer};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::faithful::{Faithful, Format, Kind, Sink};
use super::{DecodeError, DecodeReason, EncodeError};

struct MessagePack;

impl Format for MessagePack {
    const NULL: &'static [u8] = &[0xc0];
    const ANY_FLOAT: bool = true;

    // What has no length would be written beside the sink first, without its limit and out of its sight.
    fn opened_with(len: Option<usize>) -> Option<usize> {
        Some(len.unwrap_or(0))
    }

    fn head(kind: Kind, len: usize) -> Vec<u8> {
        // No payload holds more: each part takes a byte.
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        let mut head = Vec::new();
        let written = match kind {
            Kind::List => encode::write_array_len(&mut head, len),
            Kind::Map => encode::write_map_len(&mut head, len),
        };
        // A `Vec` takes all that is written.
        written.map_or_else(|_| Vec::new(), |_| head)
    }
}

pub(super) fn encode<T: Serialize + ?Sized>(value: &T, max: usize) -> Result<Vec<u8>, EncodeError> {
    // Lengths have 32 bits, and the writer cuts longer ones.
    let sink = Sink::<MessagePack>::new(max.min(usize::try_from(u32::MAX).unwrap_or(usize::MAX)));
    let mut writer = Serializer::new(&sink).with_struct_map().with_human_readable();
    let written = value.serialize(Faithful::new(&mut writer, &sink));
    sink.finish(written.map_err(|_| EncodeError::Serialize))
}

pub(super) fn decode<T: DeserializeOwned>(payload: &[u8]) -> Result<T, DecodeError> {
    check(payload)
        .and_then(|()| {
            let mut reader = Deserializer::from_read_ref(payload).with_human_readable();
            T::deserialize(&mut reader).map_err(|why| reason(&why))
        })
        .map_err(|reason| DecodeError::new::<T>(reason, None))
}

fn reason(why: &Error) -> DecodeReason {
    match why {
        Error::Utf8Error(_) => DecodeReason::Malformed,
        _ => DecodeReason::OtherType,
    }
}

/// As deep as JSON may be nested.
const DEPTH: usize = 128;

/// Checks that a payload is one value and nothing else, not nested too deep, and that every length in it is true.
///
/// The reader takes lengths on trust and tells them to types, which may set memory aside; it follows enums to any depth;
/// and it does not look at what follows the value.
fn check(payload: &[u8]) -> Result<(), DecodeReason> {
    let mut rest = payload;
    // How many values are still to come, in what is being read and in all around it.
    let mut due = 1;
    let mut around = Vec::new();
    loop {
        while due == 0 {
            let Some(outer) = around.pop() else {
                return if rest.is_empty() { Ok(()) } else { Err(DecodeReason::Malformed) };
            };
            due = outer;
        }
        due -= 1;
        let [marker] = take(&mut rest)?;
        match content(Marker::from_u8(marker), &mut rest)? {
            Content::Bytes(len) => {
                rest = rest.split_at_checked(len).ok_or(DecodeReason::Truncated)?.1;
            }
            Content::Values(len) if len > rest.len() => return Err(DecodeReason::Truncated),
            Content::Values(_) if around.len() == DEPTH => return Err(DecodeReason::Malformed),
            Content::Values(len) => around.push(std::mem::replace(&mut due, len)),
        }
    }
}

/// What follows the marker and the length of a value.
enum Content {
    Bytes(usize),
    Values(usize),
}

fn content(marker: Marker, rest: &mut &[u8]) -> Result<Content, DecodeReason> {
    let bytes = match marker {
        Marker::Null | Marker::True | Marker::False | Marker::FixPos(_) | Marker::FixNeg(_) => 0,
        Marker::U8 | Marker::I8 => 1,
        Marker::U16 | Marker::I16 | Marker::FixExt1 => 2,
        Marker::FixExt2 => 3,
        Marker::U32 | Marker::I32 | Marker::F32 => 4,
        Marker::FixExt4 => 5,
        Marker::U64 | Marker::I64 | Marker::F64 => 8,
        Marker::FixExt8 => 9,
        Marker::FixExt16 => 17,
        Marker::FixStr(len) => usize::from(len),
        Marker::Str8 | Marker::Bin8 => length::<1>(rest)?,
        Marker::Str16 | Marker::Bin16 => length::<2>(rest)?,
        Marker::Str32 | Marker::Bin32 => length::<4>(rest)?,
        Marker::Ext8 => length::<1>(rest)?.saturating_add(1),
        Marker::Ext16 => length::<2>(rest)?.saturating_add(1),
        Marker::Ext32 => length::<4>(rest)?.saturating_add(1),
        Marker::FixArray(len) => return Ok(Content::Values(usize::from(len))),
        Marker::Array16 => return length::<2>(rest).map(Content::Values),
        Marker::Array32 => return length::<4>(rest).map(Content::Values),
        Marker::FixMap(len) => return Ok(Content::Values(2 * usize::from(len))),
        Marker::Map16 => return length::<2>(rest).map(|len| Content::Values(2 * len)),
        Marker::Map32 => return length::<4>(rest).map(|len| Content::Values(len.saturating_mul(2))),
        Marker::Reserved => return Err(DecodeReason::Malformed),
    };
    Ok(Content::Bytes(bytes))
}

fn length<const WIDTH: usize>(rest: &mut &[u8]) -> Result<usize, DecodeReason> {
    let digits: [u8; WIDTH] = take(rest)?;
    Ok(digits.into_iter().fold(0, |len, digit| len << 8 | usize::from(digit)))
}

fn take<const WIDTH: usize>(rest: &mut &[u8]) -> Result<[u8; WIDTH], DecodeReason> {
    let (taken, behind) = rest.split_first_chunk().ok_or(DecodeReason::Truncated)?;
    *rest = behind;
    Ok(*taken)
}

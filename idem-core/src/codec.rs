//! How a result becomes the payload of a record, and comes back from it.
//!
//! What is replayed equals what was executed, or it is not kept: encoding refuses a value that would come back changed
//! (see [`EncodeError`]), and [`Codec::encode_kept`] reads the payload once before anybody keeps it.
//!
//! A codec cannot see what a type's own `Serialize` leaves out (`#[serde(skip)]` comes back as its default), which
//! variant an untagged enum was, nor that two keys are written as one text.

mod faithful;
mod json;
#[cfg(feature = "messagepack")]
mod messagepack;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The form of a payload. The record's header names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Codec {
    /// JSON, without white space: readable in `redis-cli`.
    #[default]
    Json,
    /// MessagePack (with the feature `messagepack`): smaller, above all for bytes, and it keeps more: any float, and maps
    /// with any keys. Structs are written with the names of their fields.
    #[cfg(feature = "messagepack")]
    MessagePack,
}

impl Codec {
    /// The letter that names the codec in a record's header.
    #[must_use]
    pub const fn letter(self) -> u8 {
        match self {
            Self::Json => b'j',
            #[cfg(feature = "messagepack")]
            Self::MessagePack => b'm',
        }
    }

    /// The codec that a record's header names; `None` for one that this release does not know, or was built without.
    #[must_use]
    pub const fn from_letter(letter: u8) -> Option<Self> {
        match letter {
            b'j' => Some(Self::Json),
            #[cfg(feature = "messagepack")]
            b'm' => Some(Self::MessagePack),
            _ => None,
        }
    }

    /// Encodes a value, if it fits into `max` bytes and can come back unchanged.
    ///
    /// Encoding stops at the byte after `max`: a result that is too large costs no more memory than one that is not.
    ///
    /// # Errors
    ///
    /// See [`EncodeError`]; all but [`Unreadable`](EncodeError::Unreadable).
    pub fn encode<T>(self, value: &T, max: usize) -> Result<Vec<u8>, EncodeError>
    where
        T: Serialize + ?Sized,
    {
        match self {
            Self::Json => json::encode(value, max),
            #[cfg(feature = "messagepack")]
            Self::MessagePack => messagepack::encode(value, max),
        }
    }

    /// Encodes a value as [`encode`](Self::encode) does, and reads it once, so that no payload is kept that nobody can
    /// read (a field that is written under a name it is not read from, say).
    ///
    /// # Errors
    ///
    /// See [`EncodeError`].
    pub fn encode_kept<T>(self, value: &T, max: usize) -> Result<Vec<u8>, EncodeError>
    where
        T: Serialize + DeserializeOwned,
    {
        let payload = self.encode(value, max)?;
        match self.decode::<T>(&payload) {
            Ok(_) => Ok(payload),
            Err(why) => Err(EncodeError::Unreadable(why)),
        }
    }

    /// Reads a payload back.
    ///
    /// Whatever the bytes are, this neither panics nor allocates more than they justify (as long as the type's own
    /// `Deserialize` does neither).
    ///
    /// # Errors
    ///
    /// If the payload is not the codec's, or not one of a `T`.
    pub fn decode<T: DeserializeOwned>(self, payload: &[u8]) -> Result<T, DecodeError> {
        match self {
            Self::Json => json::decode(payload),
            #[cfg(feature = "messagepack")]
            Self::MessagePack => messagepack::decode(payload),
        }
    }
}

/// Why a value has no payload. Holds none of the value's data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// JSON has no such number; it would come back as `null`.
    #[error("a float that is infinite or not a number cannot be kept")]
    NonFiniteFloat,
    /// `Some(None)`, `Some(())` and the like are written as `null` and would come back as `None`.
    #[error("a `Some` of what is written as null would come back as `None`")]
    SomeOfNull,
    /// A key of a map is no text, number, truth value, or unit variant, and JSON has no other keys.
    #[error("a map whose keys cannot be written as text cannot be kept")]
    KeyNotText,
    /// The payload is larger than allowed.
    #[error("the payload is larger than {max} bytes")]
    TooLarge {
        /// The largest payload allowed.
        max: usize,
    },
    /// The type's own `Serialize` failed. Its message is dropped: it may quote the value.
    #[error("the type's `Serialize` failed")]
    Serialize,
    /// What the type's `Serialize` writes, its `Deserialize` does not read.
    #[error("the payload cannot be read back")]
    Unreadable(#[source] DecodeError),
}

/// Why a payload cannot be read: which type, what kind of flaw, and in JSON where. Holds none of the payload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not readable as `{type_name}`: {reason}{place}", place = Place(*place))]
pub struct DecodeError {
    type_name: &'static str,
    reason: DecodeReason,
    place: Option<(usize, usize)>,
}

impl DecodeError {
    // The codec's own message is left behind: it quotes data.
    fn new<T>(reason: DecodeReason, place: Option<(usize, usize)>) -> Self {
        Self { type_name: std::any::type_name::<T>(), reason, place }
    }

    /// A kept error, where the operation keeps none.
    pub(crate) fn error_kept<E>() -> Self {
        Self::new::<E>(DecodeReason::ErrorKept, None)
    }

    /// The type that was to be read.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// The kind of flaw.
    #[must_use]
    pub const fn reason(&self) -> DecodeReason {
        self.reason
    }
}

/// The kind of flaw of a payload that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecodeReason {
    /// The payload ends too early.
    Truncated,
    /// The payload is not the codec's, or nested too deep (128 levels).
    Malformed,
    /// The payload is of another type: a release changed it, most likely.
    OtherType,
    /// The payload is an error, and the operation keeps none: an earlier release did, or a person settled it so.
    ErrorKept,
}

impl fmt::Display for DecodeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "it ends too early",
            Self::Malformed => "it is malformed",
            Self::OtherType => "it is of another type",
            Self::ErrorKept => "it is an error, and the operation keeps none",
        })
    }
}

/// A line and a column, if they are known.
struct Place(Option<(usize, usize)>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |(line, column)| write!(f, " at line {line}, column {column}"))
    }
}

//! JSON: readable in `redis-cli`.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::faithful::{Faithful, Format, Kind, Sink};
use super::{DecodeError, DecodeReason, EncodeError};

struct Json;

impl Format for Json {
    const NULL: &'static [u8] = b"null";
    const ANY_FLOAT: bool = false;

    // A list said to be empty would be closed before its first element.
    fn opened_with(_: Option<usize>) -> Option<usize> {
        None
    }

    // Ends are marked, not counted.
    fn head(_: Kind, _: usize) -> Vec<u8> {
        Vec::new()
    }
}

pub(super) fn encode<T: Serialize + ?Sized>(value: &T, max: usize) -> Result<Vec<u8>, EncodeError> {
    let sink = Sink::<Json>::new(max);
    let mut writer = serde_json::Serializer::new(&sink);
    let written = value.serialize(Faithful::new(&mut writer, &sink));
    sink.finish(written.map_err(|why| match why.classify() {
        // The one error of `serde_json` itself; all others are of the value.
        Category::Syntax => EncodeError::KeyNotText,
        Category::Io | Category::Data | Category::Eof => EncodeError::Serialize,
    }))
}

pub(super) fn decode<T: DeserializeOwned>(payload: &[u8]) -> Result<T, DecodeError> {
    serde_json::from_slice(payload)
        .map_err(|why| DecodeError::new::<T>(reason(&why, payload), Some((why.line(), why.column()))))
}

fn reason(why: &serde_json::Error, payload: &[u8]) -> DecodeReason {
    match why.classify() {
        Category::Eof => DecodeReason::Truncated,
        Category::Data => DecodeReason::OtherType,
        // Also what a type wants and does not get may be called a syntax error (a list for an enum): it is one only if
        // nothing can read it.
        Category::Syntax | Category::Io => {
            if serde_json::from_slice::<serde_json::Value>(payload).is_ok() {
                DecodeReason::OtherType
            } else {
                DecodeReason::Malformed
            }
        }
    }
}

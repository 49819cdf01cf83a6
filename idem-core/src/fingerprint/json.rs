//! The values `serde_json` hands over under private names, because serde's data model has no word for them: `Number`
//! with its feature `arbitrary_precision`, and `RawValue`. A feature that any crate of a build can switch on must not
//! change a fingerprint.

use serde::Serialize as _;

use super::canon::{Canon, JSON};
use super::serializer::Refused;

/// What a private struct of `serde_json` holds as text.
#[derive(Clone, Copy)]
pub(super) enum Private {
    Number,
    Raw,
}

impl Private {
    pub(super) fn of_struct(name: &str) -> Option<Self> {
        match name {
            "$serde_json::private::Number" => Some(Self::Number),
            "$serde_json::private::RawValue" => Some(Self::Raw),
            _ => None,
        }
    }

    /// Replaces the text written at `start` by the value it means.
    pub(super) fn reread(self, canon: &mut Canon, start: usize) -> Result<(), Refused> {
        let Some(text) = canon.text_at(start).map(str::to_owned) else {
            return Ok(());
        };
        canon.bytes.truncate(start);
        match self {
            Self::Number => {
                number(canon, &text);
                Ok(())
            }
            Self::Raw => raw(canon, &text),
        }
    }
}

/// Reads a number as `serde_json` does without the feature, except where that would lose digits of an integer: two
/// amounts must not pass as one.
fn number(canon: &mut Canon, text: &str) {
    if let Ok(value) = text.parse::<u64>() {
        return canon.unsigned(value.into());
    }
    if let Ok(value @ ..0) = text.parse::<i64>() {
        return canon.signed(value.into());
    }
    let float = text.parse().unwrap_or(f64::NAN);
    let is_integer = text.bytes().all(|byte| matches!(byte, b'-' | b'0'..=b'9'));
    // Integers are written in full, or as JavaScript does: the digits that tell the float from its neighbours, then
    // zeros.
    let loses_digits = is_integer && text != format!("{float:.0}") && text != float.to_string();
    if float.is_finite() && !loses_digits {
        canon.float(float);
    } else if let Ok(value) = text.parse::<u128>() {
        canon.unsigned(value);
    } else if let Ok(value) = text.parse::<i128>() {
        canon.signed(value);
    } else {
        // No type of Rust holds it (1e400, eighty digits).
        canon.sized(JSON, text.as_bytes());
    }
}

fn raw(canon: &mut Canon, text: &str) -> Result<(), Refused> {
    if let Ok(value) = serde_json::from_str::<serde_json::Value>(text) {
        return value.serialize(canon);
    }
    // What `Value` cannot hold (too deep, 1e400) counts as it is written.
    canon.sized(JSON, text.as_bytes());
    Ok(())
}

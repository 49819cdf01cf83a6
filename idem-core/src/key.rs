//! What may be an idempotency key, how it becomes text, and what it says beyond that text.

#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
mod dates;
#[cfg(any(feature = "ulid", feature = "uuid"))]
mod ids;

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::rc::Rc;
use std::sync::Arc;

use crate::fingerprint::FingerprintBuilder;

/// A value that names one intent: the same on every repeat, different for every other intent.
///
/// Implemented for text, integers, `bool`, `char`, references and smart pointers to those, `Option` (`None` is refused
/// when the call is made) and tuples of up to eight keys; by features of these names also for
///
/// | feature | types | text |
/// |---|---|---|
/// | `uuid` | `Uuid` | hyphenated, lower case |
/// | `ulid` | `Ulid` | 26 characters |
/// | `chrono` | `NaiveDate`, `NaiveDateTime`, `DateTime` of any zone | `2026-01-31`, `2026-01-31T23:59:59.5`, and an instant in UTC: `2026-01-31T23:59:59.5Z` |
/// | `time` | `Date`, `PrimitiveDateTime`, `OffsetDateTime`, `UtcDateTime` | the same |
/// | `jiff` | `civil::Date`, `civil::DateTime`, `Timestamp`, `ZonedDateTime` | the same |
///
/// One instant has one text, whatever its zone and whichever of the three crates it comes from.
///
/// `#[derive(IdempotencyKey)]`, which the facade has, implements it for structs and enums. By hand:
///
/// ```
/// use idem_core::{Key, IdempotencyKey, KeyWriter};
///
/// struct OrderId(u64);
///
/// impl IdempotencyKey for OrderId {
///     fn write_key(&self, key: &mut KeyWriter) {
///         key.part(self.0);
///     }
/// }
///
/// assert_eq!(Key::of(&("shop", OrderId(7)))?.as_str(), "shop:7");
/// # Ok::<_, idem_core::InvalidKey>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no idempotency key",
    label = "text, an integer, a tuple of keys, or a type with `#[derive(IdempotencyKey)]`",
    note = "a key must read the same on every repeat; format what has no stable text yourself",
    note = "UUIDs, ULIDs and dates are keys by idem's features `uuid`, `ulid`, `chrono`, `time` and `jiff`"
)]
pub trait IdempotencyKey {
    /// Appends the parts of this key to `key`, in order. The text of a value must never change: records are found by it.
    fn write_key(&self, key: &mut KeyWriter);

    /// Appends what this value says beyond its key, so that a repeat which says something else is refused: by default
    /// nothing, since a text or a number is nothing but its key.
    ///
    /// A type should append the same number of arguments whatever its value, or two of them side by side could read alike.
    ///
    /// ```
    /// use idem_core::{FingerprintBuilder, IdempotencyKey, KeyWriter};
    ///
    /// struct Payment {
    ///     id: String,
    ///     cents: u64,
    /// }
    ///
    /// impl IdempotencyKey for Payment {
    ///     fn write_key(&self, key: &mut KeyWriter) {
    ///         key.part(&self.id);
    ///     }
    ///
    ///     fn fingerprint(&self, rest: FingerprintBuilder) -> FingerprintBuilder {
    ///         rest.fields(|rest| rest.field("cents", &self.cents))
    ///     }
    /// }
    /// ```
    fn fingerprint(&self, rest: FingerprintBuilder) -> FingerprintBuilder {
        rest
    }
}

/// Collects the parts of a key; see [`IdempotencyKey::write_key`].
pub struct KeyWriter {
    text: String,
    parts: usize,
    blank: bool,
    missing: bool,
}

impl KeyWriter {
    /// Appends one part. Parts are kept apart: `("a:b", "c")` and `("a", "b:c")` are different keys.
    pub fn part(&mut self, part: impl fmt::Display) {
        if self.parts > 0 {
            self.text.push(SEPARATOR);
        }
        self.parts += 1;
        let mut escape = Escape { text: &mut self.text, blank: &mut self.blank };
        // Only a `Display` that fails of itself can fail here. A key cut short might be another's key.
        if write!(escape, "{part}").is_err() {
            self.missing = true;
        }
    }

    /// Says that a part is absent, so that the key as a whole is refused.
    pub fn missing(&mut self) {
        self.missing = true;
    }
}

impl fmt::Debug for KeyWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyWriter").field("parts", &self.parts).finish_non_exhaustive()
    }
}

/// A checked key (or scope): never empty, never blank. Its text is escaped, so that joined parts stay apart.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key(String);

impl Key {
    /// The key that `value` spells.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`], if a part is `None` or there is nothing in it but white space and control characters.
    pub fn of(value: &(impl IdempotencyKey + ?Sized)) -> Result<Self, InvalidKey> {
        let mut writer = KeyWriter { text: String::with_capacity(40), parts: 0, blank: true, missing: false };
        value.write_key(&mut writer);
        match writer {
            KeyWriter { missing: true, .. } => Err(InvalidKey::Missing),
            KeyWriter { blank: true, .. } => Err(InvalidKey::Blank),
            KeyWriter { text, .. } => Ok(Self(text)),
        }
    }

    /// The escaped text, as it stands in the store.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Why a key was refused, before anything was sent to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidKey {
    /// The key, or a part of it, is `None`.
    #[error("the key is missing")]
    Missing,
    /// The key is empty, or white space and control characters only.
    #[error("the key is blank")]
    Blank,
}

pub(crate) const SEPARATOR: char = ':';

/// Appends `part` to `text`, escaped.
pub(crate) fn escape(text: &mut String, part: &str) {
    let mut blank = true;
    // Writing to a `String` cannot fail.
    let _ = Escape { text, blank: &mut blank }.write_str(part);
}

/// The text that [`escape`] made `escaped` of; `None` if it made it of none.
pub(crate) fn unescaped(escaped: &str) -> Option<String> {
    let mut pieces = escaped.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let (digits, plain) = piece.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(plain.as_bytes());
    }
    let text = String::from_utf8(bytes).ok()?;
    let mut again = String::with_capacity(escaped.len());
    escape(&mut again, &text);
    (again == escaped).then_some(text)
}

/// Percent-escapes what has a meaning in the text form (`:`), in a cluster's hash tag (`{`, `}`), in the escape itself
/// (`%`), or would break the line of a person who reads keys (space, control characters). All else stays readable.
struct Escape<'a> {
    text: &'a mut String,
    blank: &'a mut bool,
}

impl fmt::Write for Escape<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        // Nearly every key: nothing in it to escape.
        let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b':' | b'{' | b'}' | b'%');
        if part.bytes().all(plain) {
            *self.blank &= part.is_empty();
            self.text.push_str(part);
            return Ok(());
        }
        *self.blank &= part.chars().all(|c| c.is_whitespace() || c.is_control());
        let awkward = |c: char| matches!(c, ':' | '{' | '}' | '%') || c.is_whitespace() || c.is_control();
        let mut plain = 0;
        for (at, awkward) in part.match_indices(awkward) {
            self.text.push_str(&part[plain..at]);
            for byte in awkward.bytes() {
                write!(self.text, "%{byte:02X}")?;
            }
            plain = at + awkward.len();
        }
        self.text.push_str(&part[plain..]);
        Ok(())
    }
}

macro_rules! keys_by_their_text {
    ($($type:ty),*) => {$(
        impl IdempotencyKey for $type {
            fn write_key(&self, key: &mut KeyWriter) {
                key.part(self);
            }
        }
    )*};
}

keys_by_their_text!(str, String, char, bool, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

macro_rules! keys_by_what_they_point_to {
    ($($type:ty),*) => {$(
        impl<T: IdempotencyKey + ?Sized> IdempotencyKey for $type {
            fn write_key(&self, key: &mut KeyWriter) {
                (**self).write_key(key);
            }

            fn fingerprint(&self, rest: FingerprintBuilder) -> FingerprintBuilder {
                (**self).fingerprint(rest)
            }
        }
    )*};
}

keys_by_what_they_point_to!(&T, &mut T, Box<T>, Rc<T>, Arc<T>);

impl<T: IdempotencyKey + ToOwned + ?Sized> IdempotencyKey for Cow<'_, T> {
    fn write_key(&self, key: &mut KeyWriter) {
        (**self).write_key(key);
    }

    fn fingerprint(&self, rest: FingerprintBuilder) -> FingerprintBuilder {
        (**self).fingerprint(rest)
    }
}

impl<T: IdempotencyKey> IdempotencyKey for Option<T> {
    fn write_key(&self, key: &mut KeyWriter) {
        match self {
            Some(value) => value.write_key(key),
            None => key.missing(),
        }
    }

    fn fingerprint(&self, rest: FingerprintBuilder) -> FingerprintBuilder {
        match self {
            Some(value) => value.fingerprint(rest),
            // Refused, so never compared.
            None => rest,
        }
    }
}

/// A key of which only its text counts, and not what it says beyond that.
#[derive(Debug, Clone, Copy)]
pub struct KeyOnly<'a, K: ?Sized>(pub &'a K);

impl<K: IdempotencyKey + ?Sized> IdempotencyKey for KeyOnly<'_, K> {
    fn write_key(&self, key: &mut KeyWriter) {
        self.0.write_key(key);
    }
}

macro_rules! keys_by_their_elements {
    ($($name:ident)+) => {
        impl<$($name: IdempotencyKey),+> IdempotencyKey for ($($name,)+) {
            fn write_key(&self, key: &mut KeyWriter) {
                #[allow(non_snake_case, reason = "an element is named as its type")]
                let ($($name,)+) = self;
                $($name.write_key(key);)+
            }

            fn fingerprint(&self, rest: FingerprintBuilder) -> FingerprintBuilder {
                #[allow(non_snake_case, reason = "an element is named as its type")]
                let ($($name,)+) = self;
                $(let rest = $name.fingerprint(rest);)+
                rest
            }
        }
    };
}

keys_by_their_elements!(A);
keys_by_their_elements!(A B);
keys_by_their_elements!(A B C);
keys_by_their_elements!(A B C D);
keys_by_their_elements!(A B C D E);
keys_by_their_elements!(A B C D E F);
keys_by_their_elements!(A B C D E F G);
keys_by_their_elements!(A B C D E F G H);

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: impl IdempotencyKey) -> String {
        Key::of(&value).expect("a valid key").0
    }

    #[test]
    fn ordinary_keys_stay_readable() {
        assert_eq!(text("order-4711"), "order-4711");
        assert_eq!(text(-7), "-7");
        assert_eq!(text(("naïve", true, 'x')), "naïve:true:x");
    }

    #[test]
    fn parts_are_kept_apart() {
        assert_eq!(text(("a:b", "c")), "a%3Ab:c");
        assert_eq!(text(("a", "b:c")), "a:b%3Ac");
        assert_ne!(text("%3A"), text(":"));
        assert_eq!(text(("a", "")), "a:");
    }

    #[test]
    fn absent_and_blank_keys_are_refused() {
        for blank in ["", " ", "\n", "\0", "\u{2003}"] {
            assert_eq!(Key::of(blank), Err(InvalidKey::Blank));
            assert_eq!(Key::of(&Some(blank)), Err(InvalidKey::Blank));
        }
        assert_eq!(Key::of(&("", " ")), Err(InvalidKey::Blank));
        assert_eq!(Key::of(&None::<u8>), Err(InvalidKey::Missing));
        assert_eq!(Key::of(&("tenant", None::<u8>)), Err(InvalidKey::Missing));
        assert_eq!(text(Some("None")), "None");
    }

    #[test]
    fn a_key_is_not_shown() {
        assert_eq!(format!("{:?}", Key::of("secret").unwrap()), "Key(..)");
    }
}

//! The canonical form, version 1, as bytes.
//!
//! A value is a tag and what the tag says follows:
//!
//! | tag | follows |
//! |---|---|
//! | `-` none, `0` unit, `f`, `t` | nothing |
//! | `?` | a none, or a `?` value: a `Some` that is not the same as its content |
//! | `+` integer n ≥ 0, `~` integer −1 − n | a length, n in that many bytes, big end first, no leading zero |
//! | `.` float | the eight bytes of an `f64`, big end first |
//! | `"` text, `#` bytes, `$` JSON text | a length, that many bytes |
//! | `<` variant | a length, that many bytes of name, the content as a value |
//! | `[` sequence | values, then `]` |
//! | `{` map | keys and values, entries sorted by the bytes of their keys, then `]` |
//!
//! A length is one byte below 255, else 255 and eight bytes, little end first. So where a value ends is told by its own
//! bytes (no form is a prefix of another), and different values have different forms. The decoder in the tests proves
//! both.

use std::fmt::{self, Write as _};

use serde::Serialize;

use super::serializer::Refused;

pub(super) const NONE: u8 = b'-';
pub(super) const SOME: u8 = b'?';
pub(super) const UNIT: u8 = b'0';
pub(super) const FALSE: u8 = b'f';
pub(super) const TRUE: u8 = b't';
pub(super) const INTEGER: u8 = b'+';
pub(super) const NEGATIVE: u8 = b'~';
pub(super) const FLOAT: u8 = b'.';
pub(super) const TEXT: u8 = b'"';
pub(super) const BYTES: u8 = b'#';
pub(super) const JSON: u8 = b'$';
pub(super) const VARIANT: u8 = b'<';
pub(super) const SEQUENCE: u8 = b'[';
pub(super) const MAP: u8 = b'{';
pub(super) const END: u8 = b']';

/// Keeps our digests apart from other uses of BLAKE3 over like bytes.
const DOMAIN: &[u8; 32] = b"idem fingerprint scheme 1       ";

/// The first byte of a length that does not fit one.
const LONG: u8 = u8::MAX;

/// A value being written in canonical form.
pub(super) struct Canon {
    pub(super) bytes: Vec<u8>,
    /// The entries of all maps being written, the innermost map's last: one allocation for a whole value, none for a
    /// value without maps.
    pub(super) entries: Vec<Entry>,
}

/// Where an entry of a map stands in the bytes.
pub(super) struct Entry {
    pub(super) start: usize,
    pub(super) key_end: usize,
    pub(super) end: usize,
}

impl Canon {
    pub(super) fn new() -> Self {
        Self { bytes: Vec::with_capacity(256), entries: Vec::new() }
    }

    pub(super) fn digest(&self) -> [u8; 16] {
        let mut digest = [0; 16];
        digest.copy_from_slice(&blake3::keyed_hash(DOMAIN, &self.bytes).as_bytes()[..16]);
        digest
    }

    /// Writes a part of a value, or nothing if its `Serialize` fails: whatever holds the part may go on without it.
    pub(super) fn part<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        let (bytes, entries) = (self.bytes.len(), self.entries.len());
        value.serialize(&mut *self).inspect_err(|Refused| {
            self.bytes.truncate(bytes);
            self.entries.truncate(entries);
        })
    }

    pub(super) fn tag(&mut self, tag: u8) {
        self.bytes.push(tag);
    }

    pub(super) fn signed(&mut self, value: i128) {
        match u128::try_from(value) {
            Ok(value) => self.unsigned(value),
            Err(_) => self.integer(NEGATIVE, (!value).unsigned_abs()),
        }
    }

    pub(super) fn unsigned(&mut self, value: u128) {
        self.integer(INTEGER, value);
    }

    fn integer(&mut self, tag: u8, value: u128) {
        let zeros = value.leading_zeros() as usize / 8;
        self.sized(tag, &value.to_be_bytes()[zeros..]);
    }

    pub(super) fn float(&mut self, value: f64) {
        let bits = if value.is_nan() {
            0x7ff8_0000_0000_0000
        } else if value == 0.0 {
            0
        } else {
            value.to_bits()
        };
        self.tag(FLOAT);
        self.bytes.extend_from_slice(&bits.to_be_bytes());
    }

    pub(super) fn text(&mut self, value: &str) {
        self.sized(TEXT, value.as_bytes());
    }

    pub(super) fn sized(&mut self, tag: u8, content: &[u8]) {
        self.tag(tag);
        match u8::try_from(content.len()) {
            Ok(length) if length < LONG => self.tag(length),
            _ => {
                self.tag(LONG);
                self.bytes.extend_from_slice(&long_length(content.len()));
            }
        }
        self.bytes.extend_from_slice(content);
    }

    /// Writes a text as it is formatted, without a `String` in between.
    pub(super) fn display(&mut self, value: &(impl fmt::Display + ?Sized)) -> fmt::Result {
        self.tag(TEXT);
        let at = self.bytes.len();
        self.tag(LONG);
        let start = self.bytes.len();
        write!(Formatted(&mut self.bytes), "{value}")?;
        let length = self.bytes.len() - start;
        match u8::try_from(length) {
            Ok(length) if length < LONG => self.bytes[at] = length,
            _ => drop(self.bytes.splice(start..start, long_length(length))),
        }
        Ok(())
    }

    /// The text at `start`, if a text and nothing else was written there.
    pub(super) fn text_at(&self, start: usize) -> Option<&str> {
        let text = match self.bytes.get(start..)? {
            [TEXT, LONG, long @ ..] => long.get(8..)?,
            [TEXT, _, short @ ..] => short,
            _ => return None,
        };
        std::str::from_utf8(text).ok()
    }

    /// Marks what was written at `start` as a `Some`, where its content alone would read as a `None`.
    pub(super) fn mark_some(&mut self, start: usize) {
        if let Some(&(NONE | SOME)) = self.bytes.get(start) {
            self.bytes.insert(start, SOME);
        }
    }

    pub(super) fn open_sequence(&mut self) {
        self.tag(SEQUENCE);
    }

    pub(super) fn close(&mut self) {
        self.tag(END);
    }

    /// Sorts the entries from number `first` on, which end the bytes.
    pub(super) fn sort_entries(&mut self, first: usize) {
        let Self { bytes, entries } = self;
        let entries = &mut entries[first..];
        let Some(&Entry { start, .. }) = entries.first() else {
            return;
        };
        // Equal keys (a map may write one twice) stay in their order.
        entries.sort_unstable_by(|a, b| {
            let keys = bytes[a.start..a.key_end].cmp(&bytes[b.start..b.key_end]);
            keys.then(a.start.cmp(&b.start))
        });
        let unsorted_end = bytes.len();
        for entry in entries {
            bytes.extend_from_within(entry.start..entry.end);
        }
        bytes.copy_within(unsorted_end.., start);
        bytes.truncate(unsorted_end);
    }
}

fn long_length(length: usize) -> [u8; 8] {
    (length as u64).to_le_bytes()
}

struct Formatted<'a>(&'a mut Vec<u8>);

impl fmt::Write for Formatted<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

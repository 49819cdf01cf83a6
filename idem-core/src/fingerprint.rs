//! The canonical digest of a call's arguments: two calls under one key with different fingerprints are two intents, and
//! the second is refused.
//!
//! Any [`Serialize`] value is written in a canonical form, which is hashed. No JSON lies in between, so neither number
//! ranges nor features of `serde_json` (`preserve_order`, `arbitrary_precision`) change a fingerprint.

mod canon;
mod json;
mod serializer;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::Serialize;
use serde::ser::SerializeMap;

use self::canon::Canon;
use self::serializer::Entries;

/// Names the scheme in a record's header: the canonical form and the hash.
///
/// Digests of two schemes cannot be compared. Whatever changes a golden value in `tests/fixtures/fingerprints.txt`
/// needs a new scheme.
pub(crate) const SCHEME: u8 = b'1';

/// A 128-bit digest of the arguments that define an intent: of any [`Serialize`], whatever its types.
///
/// ```
/// use idem_core::Fingerprint;
///
/// let paid = Fingerprint::of(&("order-7", 1999_u64))?;
/// assert_eq!(paid, Fingerprint::of(&("order-7", 1999_i32))?);
/// assert_ne!(paid, Fingerprint::of(&("order-7", 2000_u64))?);
/// # Ok::<(), idem_core::FingerprintError>(())
/// ```
///
/// # What is the same, what is not
///
/// | values | rule |
/// |---|---|
/// | structs, maps | fields and entries in any order; a struct is a map with text keys; its name does not count |
/// | `None` as a field or entry | the same as an absent one, so a new optional field changes no fingerprint |
/// | `Some(x)` | the same as `x`, but `Some(None)` is not `None` |
/// | `()`, unit structs, a `null` of `serde_json::Value` | present, and never the same as `None` or absent: "set to null" and "leave alone" are two intents |
/// | sequences, tuples, arrays | in order, all the same; a `None` inside counts |
/// | newtype structs | the same as what they hold |
/// | unit variants of enums | the same as the text of their name |
/// | other variants | name and content; never the same as a map with one entry |
/// | integers | by value, exact over all of `i128` and `u128`, whatever their width |
/// | floats | by value, `f32` like `f64`; `-0.0` is `0.0`; there is one NaN |
/// | `1` and `1.0` | differ |
/// | `char` | the same as a text of one character |
/// | bytes (`serde_bytes`) | differ from text and from a sequence of numbers, which `Vec<u8>` is |
/// | `serde_json::Value` | the same as the like-built map, sequence or scalar; an integer beyond 64 bits is a float there, unless digits would be lost that `arbitrary_precision` keeps |
/// | `serde_json::value::RawValue` | the same as the `Value` it reads as |
///
/// A `HashSet` reaches us as a sequence in random order, which nothing can tell from a list whose order matters: **use
/// a `BTreeSet`, or sort, where a set is an argument**; else a repeat may be refused as a mismatch. Maps are safe.
///
/// Whatever `Serialize` leaves out (`#[serde(skip)]`) does not count, and renaming a field or a variant makes another
/// intent.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// Digests one value.
    ///
    /// # Errors
    ///
    /// Only if the value's own `Serialize` fails.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, FingerprintError> {
        let mut canon = Canon::new();
        match value.serialize(&mut canon) {
            Ok(()) => Ok(Self(canon.digest())),
            Err(_) => Err(FingerprintError::new::<T>()),
        }
    }

    /// A digest that was kept.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The digest.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// Shows nothing: arguments may be few enough to be found by trying.
impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprint(..)")
    }
}

/// Digests arguments one by one, without a tuple that would borrow or move them all at once.
///
/// Fed `a`, `b`, `c` it gives `Fingerprint::of(&(a, b, c))`; fed nothing, `Fingerprint::of(&())`.
///
/// ```
/// use idem_core::{Fingerprint, FingerprintBuilder};
///
/// let by_one = FingerprintBuilder::new().arg("order-7").arg(&1999).finish()?;
/// assert_eq!(by_one, Fingerprint::of(&("order-7", 1999))?);
/// # Ok::<(), idem_core::FingerprintError>(())
/// ```
#[must_use = "a builder does nothing until `finish`"]
pub struct FingerprintBuilder {
    canon: Canon,
    args: usize,
    failed: Option<FingerprintError>,
}

impl FingerprintBuilder {
    /// A builder that was fed nothing yet.
    pub fn new() -> Self {
        let mut canon = Canon::new();
        canon.open_sequence();
        Self { canon, args: 0, failed: None }
    }

    /// Appends one argument. A failure shows in [`finish`](Self::finish).
    pub fn arg<T: Serialize + ?Sized>(mut self, value: &T) -> Self {
        self.args += 1;
        if self.failed.is_none() && value.serialize(&mut self.canon).is_err() {
            self.failed = Some(FingerprintError::new::<T>());
        }
        self
    }

    /// Appends named values as one argument, which counts as a struct of these fields does.
    ///
    /// ```
    /// use idem_core::{Fingerprint, FingerprintBuilder};
    ///
    /// #[derive(serde::Serialize)]
    /// struct Payment {
    ///     cents: u64,
    /// }
    ///
    /// let by_name = FingerprintBuilder::new().fields(|payment| payment.field("cents", &5)).finish()?;
    /// assert_eq!(by_name, Fingerprint::of(&(Payment { cents: 5 },))?);
    /// # Ok::<(), idem_core::FingerprintError>(())
    /// ```
    pub fn fields(mut self, write: impl FnOnce(FieldsWriter<'_>) -> FieldsWriter<'_>) -> Self {
        self.args += 1;
        let fields = write(FieldsWriter { entries: Entries::open(&mut self.canon), failed: None });
        let failed = fields.close();
        self.failed = self.failed.or(failed);
        self
    }

    /// Digests what was appended.
    ///
    /// # Errors
    ///
    /// If the `Serialize` of an argument failed; the first one is named.
    pub fn finish(mut self) -> Result<Fingerprint, FingerprintError> {
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        // No arguments are `()`, the value that has no element to open a sequence for.
        if self.args == 0 {
            return Fingerprint::of(&());
        }
        self.canon.close();
        Ok(Fingerprint(self.canon.digest()))
    }
}

impl Default for FingerprintBuilder {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows no argument.
impl fmt::Debug for FingerprintBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FingerprintBuilder")
            .field("args", &self.args)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

/// Collects named values; see [`FingerprintBuilder::fields`].
#[must_use = "a writer is handed back when all fields are written"]
pub struct FieldsWriter<'a> {
    entries: Entries<'a>,
    failed: Option<FingerprintError>,
}

impl FieldsWriter<'_> {
    /// Appends the field `name`. The order of fields does not count, and a `None` is the same as no field.
    pub fn field<T: Argument + ?Sized>(self, name: &str, value: &T) -> Self {
        value.add_field(name, self)
    }

    pub(crate) fn serialize_field<T: Serialize + ?Sized>(mut self, name: &str, value: &T) -> Self {
        if self.failed.is_none() && self.entries.serialize_entry(name, value).is_err() {
            self.failed = Some(FingerprintError::new::<T>());
        }
        self
    }

    fn close(self) -> Option<FingerprintError> {
        let closed = self.entries.end();
        debug_assert!(closed.is_ok(), "every name has got its value");
        self.failed
    }
}

/// Shows no field.
impl fmt::Debug for FieldsWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FieldsWriter").field("failed", &self.failed).finish_non_exhaustive()
    }
}

/// An argument (or a field of a derived key) that can be part of the fingerprint: anything serde can write.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of the fingerprint",
    label = "this is no `serde::Serialize`",
    note = "what is no part of the intent (a client, a pool, a context) is left out: an argument with `skip(…)`, a field with `#[idem(skip)]`; what is needs `#[derive(serde::Serialize)]`",
    note = "types of other crates have it by a feature: `Arc` by serde's `rc`, dates and UUIDs by the feature `serde` of their crates"
)]
pub trait Argument {
    #[doc(hidden)]
    fn add_to(&self, arguments: FingerprintBuilder) -> FingerprintBuilder;
    #[doc(hidden)]
    fn add_field<'a>(&self, name: &str, fields: FieldsWriter<'a>) -> FieldsWriter<'a>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + ?Sized> Argument for T {
    fn add_to(&self, arguments: FingerprintBuilder) -> FingerprintBuilder {
        arguments.arg(self)
    }

    fn add_field<'a>(&self, name: &str, fields: FieldsWriter<'a>) -> FieldsWriter<'a> {
        fields.serialize_field(name, self)
    }
}

/// The `Serialize` of an argument failed.
///
/// Names the type and nothing else: the message of a failing `Serialize` may quote the value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no fingerprint of `{type_name}`: its `Serialize` failed")]
pub struct FingerprintError {
    type_name: &'static str,
}

impl FingerprintError {
    fn new<T: ?Sized>() -> Self {
        Self { type_name: std::any::type_name::<T>() }
    }

    /// The type whose `Serialize` failed.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        self.type_name
    }
}

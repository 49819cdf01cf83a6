//! From serde's data model to the canonical form.

use std::fmt;

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::canon::{BYTES, Canon, Entry, FALSE, MAP, NONE, TRUE, UNIT, VARIANT};
use super::json::Private;

/// A `Serialize` failed. Its message is dropped unread: it may hold data.
#[derive(Debug)]
pub(super) struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("refused")
    }
}

impl std::error::Error for Refused {}

impl Error for Refused {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// Serde has a method per width; a value has one form.
macro_rules! integers {
    ($($method:ident $write:ident $type:ty),*) => {$(
        fn $method(self, value: $type) -> Result<(), Refused> {
            self.$write(value.into());
            Ok(())
        }
    )*};
}

impl<'a> Serializer for &'a mut Canon {
    type Ok = ();
    type Error = Refused;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Entries<'a>;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = Fields<'a>;

    // Types with two faces (addresses, dates, UUIDs) show the one a person reads and JSON carries.
    fn is_human_readable(&self) -> bool {
        true
    }

    integers! {
        serialize_i8 signed i8, serialize_i16 signed i16, serialize_i32 signed i32,
        serialize_i64 signed i64, serialize_i128 signed i128,
        serialize_u8 unsigned u8, serialize_u16 unsigned u16, serialize_u32 unsigned u32,
        serialize_u64 unsigned u64, serialize_u128 unsigned u128,
        serialize_f32 float f32, serialize_f64 float f64
    }

    fn serialize_bool(self, value: bool) -> Result<(), Refused> {
        self.tag(if value { TRUE } else { FALSE });
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Refused> {
        self.text(value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), Refused> {
        self.text(value);
        Ok(())
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), Refused> {
        self.display(value).map_err(|fmt::Error| Refused)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Refused> {
        self.sized(BYTES, value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Refused> {
        self.tag(NONE);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Refused> {
        let start = self.bytes.len();
        value.serialize(&mut *self)?;
        self.mark_some(start);
        Ok(())
    }

    fn serialize_unit(self) -> Result<(), Refused> {
        self.tag(UNIT);
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Refused> {
        self.serialize_unit()
    }

    // As text, so that a `String` argument may become an enum without a word to the callers, for whom nothing changed.
    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<(), Refused> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<(), Refused> {
        value.serialize(self)
    }

    // Not a map with one entry: the content may be a `None`, and the variant would vanish with it.
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Refused> {
        self.sized(VARIANT, variant.as_bytes());
        value.serialize(self)
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Items<'a>, Refused> {
        self.open_sequence();
        Ok(Items(self))
    }

    fn serialize_tuple(self, _len: usize) -> Result<Items<'a>, Refused> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Items<'a>, Refused> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Items<'a>, Refused> {
        self.sized(VARIANT, variant.as_bytes());
        self.serialize_seq(None)
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Entries<'a>, Refused> {
        Ok(Entries::open(self))
    }

    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Fields<'a>, Refused> {
        Ok(match Private::of_struct(name) {
            None => Fields::Entries(Entries::open(self)),
            Some(private) => Fields::Private(self, private),
        })
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Fields<'a>, Refused> {
        self.sized(VARIANT, variant.as_bytes());
        Ok(Fields::Entries(Entries::open(self)))
    }
}

/// A sequence being written.
pub(super) struct Items<'a>(&'a mut Canon);

macro_rules! items {
    ($($trait:ident $method:ident),*) => {$(
        impl $trait for Items<'_> {
            type Ok = ();
            type Error = Refused;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
                self.0.part(value)
            }

            fn end(self) -> Result<(), Refused> {
                self.0.close();
                Ok(())
            }
        }
    )*};
}

items! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
}

/// A map being written.
pub(super) struct Entries<'a> {
    canon: &'a mut Canon,
    /// The number of its first entry in [`Canon::entries`].
    first: usize,
    /// Where the entry starts whose key was begun last, and where that key ends; gone once it has its value.
    open: Option<(usize, usize)>,
    sorted: bool,
}

impl<'a> Entries<'a> {
    pub(super) fn open(canon: &'a mut Canon) -> Self {
        canon.tag(MAP);
        Self { first: canon.entries.len(), canon, open: None, sorted: true }
    }

    /// Writes the value of the entry whose key stands at `start..key_end`.
    fn value<T: Serialize + ?Sized>(&mut self, (start, key_end): (usize, usize), value: &T) -> Result<(), Refused> {
        let written = self.canon.part(value);
        self.end_entry(start, key_end);
        written
    }

    fn end_entry(&mut self, start: usize, key_end: usize) {
        let Canon { bytes, entries } = &mut *self.canon;
        // A `None` is the same as no entry; after an error there is nothing.
        if let [] | [NONE] = bytes[key_end..] {
            bytes.truncate(start);
            return;
        }
        if let Some(last) = entries[self.first..].last() {
            self.sorted &= bytes[last.start..last.key_end] <= bytes[start..key_end];
        }
        let end = bytes.len();
        entries.push(Entry { start, key_end, end });
    }

    fn close(self) -> Result<(), Refused> {
        if self.open.is_some() {
            return Err(Refused);
        }
        if !self.sorted {
            self.canon.sort_entries(self.first);
        }
        self.canon.entries.truncate(self.first);
        self.canon.close();
        Ok(())
    }
}

impl SerializeMap for Entries<'_> {
    type Ok = ();
    type Error = Refused;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Refused> {
        let start = self.canon.bytes.len();
        self.canon.part(key)?;
        match self.open.replace((start, self.canon.bytes.len())) {
            None => Ok(()),
            // A key without a value: no map that anyone could mean.
            Some(_) => Err(Refused),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        let key = self.open.take().ok_or(Refused)?;
        self.value(key, value)
    }

    fn end(self) -> Result<(), Refused> {
        self.close()
    }
}

/// A struct being written.
pub(super) enum Fields<'a> {
    Entries(Entries<'a>),
    Private(&'a mut Canon, Private),
}

macro_rules! fields {
    ($($trait:ident),*) => {$(
        impl $trait for Fields<'_> {
            type Ok = ();
            type Error = Refused;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), Refused> {
                match self {
                    Self::Entries(entries) => {
                        let start = entries.canon.bytes.len();
                        entries.canon.text(key);
                        entries.value((start, entries.canon.bytes.len()), value)
                    }
                    Self::Private(canon, private) => {
                        let start = canon.bytes.len();
                        canon.part(value)?;
                        private.reread(canon, start)
                    }
                }
            }

            fn end(self) -> Result<(), Refused> {
                match self {
                    Self::Entries(entries) => entries.close(),
                    Self::Private(..) => Ok(()),
                }
            }
        }
    )*};
}

fields! { SerializeStruct, SerializeStructVariant }

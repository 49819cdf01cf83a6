//! A serializer around another one, which refuses what the other one writes but would not give back: every part of a
//! value passes through it.

use std::cell::{Cell, RefCell};
use std::{fmt, io};

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::EncodeError;

/// Where the bytes go, and why they are not to be kept.
///
/// Shared by the serializer that writes and the one that watches, on one stack: hence the cells.
pub(super) struct Sink {
    bytes: RefCell<Vec<u8>>,
    max: usize,
    refused: Cell<Option<EncodeError>>,
}

impl Sink {
    pub(super) fn new(max: usize) -> Self {
        Self { bytes: RefCell::new(Vec::with_capacity(max.min(128))), max, refused: Cell::new(None) }
    }

    /// The payload. A refusal stands even if the value's `Serialize` made nothing of it.
    pub(super) fn finish(self, written: serde_json::Result<()>) -> Result<Vec<u8>, EncodeError> {
        match (self.refused.into_inner(), written) {
            (Some(refused), _) => Err(refused),
            (None, Ok(())) => Ok(self.bytes.into_inner()),
            // The one error of `serde_json` itself; all others are of the value.
            (None, Err(why)) if why.is_syntax() => Err(EncodeError::KeyNotText),
            (None, Err(_)) => Err(EncodeError::Serialize),
        }
    }

    fn refuse<E: Error>(&self, why: EncodeError) -> E {
        self.refused.set(Some(why));
        E::custom("refused")
    }

    fn finite<E: Error>(&self, finite: bool) -> Result<(), E> {
        if finite { Ok(()) } else { Err(self.refuse(EncodeError::NonFiniteFloat)) }
    }

    fn watch<'a, T: ?Sized>(&'a self, value: &'a T) -> Watched<'a, T> {
        Watched { value, sink: self }
    }

    #[cold]
    fn full(&self) -> io::Result<()> {
        self.refused.set(Some(EncodeError::TooLarge { max: self.max }));
        Err(io::ErrorKind::StorageFull.into())
    }

    fn len(&self) -> usize {
        self.bytes.borrow().len()
    }

    fn wrote_null(&self, start: usize) -> bool {
        self.bytes.borrow().get(start..) == Some(b"null")
    }
}

impl io::Write for &Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    // `serde_json` writes in pieces of a few bytes.
    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut written = self.bytes.borrow_mut();
        if bytes.len() > self.max - written.len() {
            return self.full();
        }
        written.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The watching serializer: `S` writes to the sink.
pub(super) struct Faithful<'s, S> {
    inner: S,
    sink: &'s Sink,
}

impl<'s, S> Faithful<'s, S> {
    pub(super) fn new(inner: S, sink: &'s Sink) -> Self {
        Self { inner, sink }
    }
}

/// A part of a value, to be watched too.
struct Watched<'a, T: ?Sized> {
    value: &'a T,
    sink: &'a Sink,
}

impl<T: Serialize + ?Sized> Serialize for Watched<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(Faithful::new(serializer, self.sink))
    }
}

/// Passes on what always comes back.
macro_rules! pass {
    ($($method:ident($($argument:ident: $type:ty),*)),* $(,)?) => {$(
        fn $method(self $(, $argument: $type)*) -> Result<S::Ok, S::Error> {
            self.inner.$method($($argument),*)
        }
    )*};
}

/// Passes on the beginning of a compound, and watches its parts.
macro_rules! open {
    ($($method:ident($($argument:ident: $type:ty),*) -> $parts:ident),* $(,)?) => {$(
        fn $method(self $(, $argument: $type)*) -> Result<Self::$parts, S::Error> {
            let inner = self.inner.$method($($argument),*)?;
            Ok(Parts { inner, sink: self.sink })
        }
    )*};
}

impl<'s, S: Serializer> Serializer for Faithful<'s, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Parts<'s, S::SerializeSeq>;
    type SerializeTuple = Parts<'s, S::SerializeTuple>;
    type SerializeTupleStruct = Parts<'s, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Parts<'s, S::SerializeTupleVariant>;
    type SerializeMap = Parts<'s, S::SerializeMap>;
    type SerializeStruct = Parts<'s, S::SerializeStruct>;
    type SerializeStructVariant = Parts<'s, S::SerializeStructVariant>;

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        self.sink.finite(value.is_finite())?;
        self.inner.serialize_f32(value)
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        self.sink.finite(value.is_finite())?;
        self.inner.serialize_f64(value)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        let sink = self.sink;
        let start = sink.len();
        let written = self.inner.serialize_some(&sink.watch(value))?;
        // Asked of the bytes: what becomes null is up to the types inside.
        if sink.wrote_null(start) {
            return Err(sink.refuse(EncodeError::SomeOfNull));
        }
        Ok(written)
    }

    pass! {
        serialize_bool(value: bool),
        serialize_i8(value: i8),
        serialize_i16(value: i16),
        serialize_i32(value: i32),
        serialize_i64(value: i64),
        serialize_i128(value: i128),
        serialize_u8(value: u8),
        serialize_u16(value: u16),
        serialize_u32(value: u32),
        serialize_u64(value: u64),
        serialize_u128(value: u128),
        serialize_char(value: char),
        serialize_str(value: &str),
        serialize_bytes(value: &[u8]),
        serialize_none(),
        serialize_unit(),
        serialize_unit_struct(name: &'static str),
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str),
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.collect_str(value)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<S::Ok, S::Error> {
        let value = self.sink.watch(value);
        self.inner.serialize_newtype_struct(name, &value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let value = self.sink.watch(value);
        self.inner.serialize_newtype_variant(name, index, variant, &value)
    }

    open! {
        serialize_seq(len: Option<usize>) -> SerializeSeq,
        serialize_tuple(len: usize) -> SerializeTuple,
        serialize_tuple_struct(name: &'static str, len: usize) -> SerializeTupleStruct,
        serialize_tuple_variant(
            name: &'static str, index: u32, variant: &'static str, len: usize
        ) -> SerializeTupleVariant,
        serialize_map(len: Option<usize>) -> SerializeMap,
        serialize_struct(name: &'static str, len: usize) -> SerializeStruct,
        serialize_struct_variant(
            name: &'static str, index: u32, variant: &'static str, len: usize
        ) -> SerializeStructVariant,
    }
}

/// A compound whose parts are watched.
pub(super) struct Parts<'s, C> {
    inner: C,
    sink: &'s Sink,
}

/// Serde has seven traits for what are two things: items and fields.
macro_rules! parts {
    ($($trait:ident { $($method:ident($($name:ident: $type:ty)?)),* })*) => {$(
        impl<C: $trait> $trait for Parts<'_, C> {
            type Ok = C::Ok;
            type Error = C::Error;

            $(fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($name: $type,)?
                value: &T,
            ) -> Result<(), C::Error> {
                let value = self.sink.watch(value);
                self.inner.$method($($name,)? &value)
            })*

            fn end(self) -> Result<C::Ok, C::Error> {
                self.inner.end()
            }
        }
    )*};
}

parts! {
    SerializeSeq { serialize_element() }
    SerializeTuple { serialize_element() }
    SerializeTupleStruct { serialize_field() }
    SerializeTupleVariant { serialize_field() }
    SerializeMap { serialize_key(), serialize_value() }
    SerializeStruct { serialize_field(key: &'static str) }
    SerializeStructVariant { serialize_field(key: &'static str) }
}

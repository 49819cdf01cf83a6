//! A serializer around another one, which refuses what the other one writes but would not give back: every part of a
//! value passes through it.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::{fmt, io};

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::EncodeError;

/// What the codecs differ in.
pub(super) trait Format {
    /// What `None` and `()` are written as.
    const NULL: &'static [u8];
    /// Whether infinities, and what is not a number, come back.
    const ANY_FLOAT: bool;

    /// The length to open a list or map with, where its type says `len`.
    fn opened_with(len: Option<usize>) -> Option<usize>;

    /// The bytes that open a list or map of `len` parts, as far as they depend on `len`.
    fn head(kind: Kind, len: usize) -> Vec<u8>;
}

/// The two kinds of compounds.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    List,
    Map,
}

/// Where the bytes go, and why they are not to be kept.
///
/// Shared by the serializer that writes and the one that watches, on one stack: hence the cells.
pub(super) struct Sink<F> {
    bytes: RefCell<Vec<u8>>,
    max: usize,
    refused: Cell<Option<EncodeError>>,
    format: PhantomData<F>,
}

impl<F: Format> Sink<F> {
    pub(super) fn new(max: usize) -> Self {
        let bytes = RefCell::new(Vec::with_capacity(max.min(128)));
        Self { bytes, max, refused: Cell::new(None), format: PhantomData }
    }

    /// The payload. A refusal stands even if the value's `Serialize` made nothing of it.
    pub(super) fn finish(self, written: Result<(), EncodeError>) -> Result<Vec<u8>, EncodeError> {
        match self.refused.into_inner() {
            Some(refused) => Err(refused),
            None => written.map(|()| self.bytes.into_inner()),
        }
    }

    fn refuse<E: Error>(&self, why: EncodeError) -> E {
        self.refused.set(Some(why));
        E::custom("refused")
    }

    fn finite<E: Error>(&self, finite: bool) -> Result<(), E> {
        if finite || F::ANY_FLOAT { Ok(()) } else { Err(self.refuse(EncodeError::NonFiniteFloat)) }
    }

    fn watch<'a, T: ?Sized>(&'a self, value: &'a T) -> Watched<'a, T, F> {
        Watched { value, sink: self }
    }

    fn too_large(&self) -> EncodeError {
        EncodeError::TooLarge { max: self.max }
    }

    #[cold]
    fn full(&self) -> io::Result<()> {
        self.refused.set(Some(self.too_large()));
        Err(io::ErrorKind::StorageFull.into())
    }

    fn len(&self) -> usize {
        self.bytes.borrow().len()
    }

    fn wrote_null(&self, start: usize) -> bool {
        self.bytes.borrow().get(start..) == Some(F::NULL)
    }

    /// Makes the length true that a compound was opened with, now that its parts are counted: the type may not have known
    /// it, or been wrong.
    fn close<E: Error>(&self, opened: Opened, parts: usize) -> Result<(), E> {
        if parts == opened.len {
            return Ok(());
        }
        let [said, due] = [opened.len, parts].map(|len| F::head(opened.kind, len));
        if said == due {
            return Ok(());
        }
        let mut bytes = self.bytes.borrow_mut();
        let head = opened.until.saturating_sub(said.len())..opened.until;
        if bytes.get(head.clone()) != Some(&said[..]) {
            return Err(self.refuse(EncodeError::Serialize));
        }
        if bytes.len() - said.len() + due.len() > self.max {
            return Err(self.refuse(self.too_large()));
        }
        bytes.splice(head, due);
        Ok(())
    }
}

/// How a compound was opened.
#[derive(Clone, Copy)]
struct Opened {
    kind: Kind,
    len: usize,
    /// Where its head ends.
    until: usize,
}

impl<F: Format> io::Write for &Sink<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    // Serializers write in pieces of a few bytes.
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
pub(super) struct Faithful<'s, S, F> {
    inner: S,
    sink: &'s Sink<F>,
}

impl<'s, S, F: Format> Faithful<'s, S, F> {
    pub(super) fn new(inner: S, sink: &'s Sink<F>) -> Self {
        Self { inner, sink }
    }
}

/// A part of a value, to be watched too.
struct Watched<'a, T: ?Sized, F> {
    value: &'a T,
    sink: &'a Sink<F>,
}

impl<T: Serialize + ?Sized, F: Format> Serialize for Watched<'_, T, F> {
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

/// Passes on the beginning of a compound of `len` parts, and watches them.
macro_rules! open {
    ($($method:ident($($argument:ident: $type:ty),*) -> $parts:ident of $kind:ident),* $(,)?) => {$(
        fn $method(self $(, $argument: $type)*, len: usize) -> Result<Self::$parts, S::Error> {
            let inner = self.inner.$method($($argument,)* len)?;
            Ok(Parts::opened(inner, self.sink, Kind::$kind, len))
        }
    )*};
}

impl<'s, S: Serializer, F: Format> Serializer for Faithful<'s, S, F> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Parts<'s, S::SerializeSeq, F>;
    type SerializeTuple = Parts<'s, S::SerializeTuple, F>;
    type SerializeTupleStruct = Parts<'s, S::SerializeTupleStruct, F>;
    type SerializeTupleVariant = Parts<'s, S::SerializeTupleVariant, F>;
    type SerializeMap = Parts<'s, S::SerializeMap, F>;
    type SerializeStruct = Parts<'s, S::SerializeStruct, F>;
    type SerializeStructVariant = Parts<'s, S::SerializeStructVariant, F>;

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

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        let len = F::opened_with(len);
        let inner = self.inner.serialize_seq(len)?;
        Ok(Parts::opened(inner, self.sink, Kind::List, len.unwrap_or(0)))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        let len = F::opened_with(len);
        let inner = self.inner.serialize_map(len)?;
        Ok(Parts::opened(inner, self.sink, Kind::Map, len.unwrap_or(0)))
    }

    open! {
        serialize_tuple() -> SerializeTuple of List,
        serialize_tuple_struct(name: &'static str) -> SerializeTupleStruct of List,
        serialize_tuple_variant(
            name: &'static str, index: u32, variant: &'static str
        ) -> SerializeTupleVariant of List,
        serialize_struct(name: &'static str) -> SerializeStruct of Map,
        serialize_struct_variant(
            name: &'static str, index: u32, variant: &'static str
        ) -> SerializeStructVariant of Map,
    }
}

/// A compound whose parts are watched, and counted.
pub(super) struct Parts<'s, C, F> {
    inner: C,
    sink: &'s Sink<F>,
    opened: Opened,
    count: usize,
}

impl<'s, C, F: Format> Parts<'s, C, F> {
    fn opened(inner: C, sink: &'s Sink<F>, kind: Kind, len: usize) -> Self {
        Self { inner, sink, opened: Opened { kind, len, until: sink.len() }, count: 0 }
    }
}

/// Serde has seven traits for what are two things: items and fields.
macro_rules! parts {
    ($($trait:ident { $($method:ident($($name:ident: $type:ty)?) adds $added:literal),* })*) => {$(
        impl<C: $trait, F: Format> $trait for Parts<'_, C, F> {
            type Ok = C::Ok;
            type Error = C::Error;

            $(fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($name: $type,)?
                value: &T,
            ) -> Result<(), C::Error> {
                self.count += $added;
                let value = self.sink.watch(value);
                self.inner.$method($($name,)? &value)
            })*

            fn end(self) -> Result<C::Ok, C::Error> {
                let ended = self.inner.end()?;
                self.sink.close(self.opened, self.count)?;
                Ok(ended)
            }
        }
    )*};
}

parts! {
    SerializeSeq { serialize_element() adds 1 }
    SerializeTuple { serialize_element() adds 1 }
    SerializeTupleStruct { serialize_field() adds 1 }
    SerializeTupleVariant { serialize_field() adds 1 }
    SerializeMap { serialize_key() adds 1, serialize_value() adds 0 }
    SerializeStruct { serialize_field(key: &'static str) adds 1 }
    SerializeStructVariant { serialize_field(key: &'static str) adds 1 }
}

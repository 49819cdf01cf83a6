//! What an operation may return, and how its return value is told apart, kept and given back.
//!
//! All that is generic over a user's result is here and thin; the engine is not generic at all.

use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::codec::{Codec, DecodeError, EncodeError};
use crate::error::Error;
use crate::judge::{Judge, KeepableError, Verdict};
use crate::outcome::{Outcome, Seen};
use crate::record::Ending;
use crate::store::GivenUp;

/// A `Result` that an operation can return: its value can be [kept](Keepable), its error can [carry idem's](CarriesIdem).
#[diagnostic::on_unimplemented(
    message = "an idempotent function returns a `Result`, not `{Self}`",
    label = "write `Result<T, E>` with `E: From<idem::Error>`",
    note = "idem's own errors (conflict, mismatch, store down) need a place in what the function returns"
)]
pub trait Reply: Sized {
    /// The function's own error.
    #[doc(hidden)]
    type Error;
    /// The answer that carries idem's own error.
    #[doc(hidden)]
    fn refusal(error: Error) -> Self;
    /// The kept value, encoded; `None` for the function's own error.
    #[doc(hidden)]
    fn encode(&self, codec: Codec, max: usize) -> Option<Result<Vec<u8>, EncodeError>>;
    /// The answer that a kept value stands for.
    #[doc(hidden)]
    fn decode(codec: Codec, payload: &[u8]) -> Result<Self, DecodeError>;
    /// The function's own error, if the answer is one.
    #[doc(hidden)]
    fn error(&self) -> Option<&Self::Error>;
    /// The answer that is this error.
    #[doc(hidden)]
    fn of_error(error: Self::Error) -> Self;
    /// The answer, told how its call was answered.
    #[doc(hidden)]
    #[must_use]
    fn with_seen(self, seen: Seen) -> Self;
}

/// A value that can be kept and replayed: one that serde can write and read, or an [`Outcome`] of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be kept and replayed",
    label = "idem stores this value and gives it to every repeat",
    note = "derive `serde::Serialize` and `serde::Deserialize` for it; it must own its data"
)]
pub trait Keepable: Sized {
    /// The value, encoded.
    #[doc(hidden)]
    fn encode(&self, codec: Codec, max: usize) -> Result<Vec<u8>, EncodeError>;
    /// The value that `payload` stands for.
    #[doc(hidden)]
    fn decode(codec: Codec, payload: &[u8]) -> Result<Self, DecodeError>;
    /// The value, told how its call was answered.
    #[doc(hidden)]
    #[must_use]
    fn with_seen(self, seen: Seen) -> Self;
}

/// An error type with a place for idem's own errors.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot carry idem's own errors (conflict, mismatch, store down)",
    label = "needs `From<idem::Error>`",
    note = "add a variant: `#[error(transparent)] Idem(#[from] idem::Error)`; `anyhow::Error` and `Box<dyn Error + Send + Sync>` work as they are",
    note = "an error type of another crate cannot have it: wrap it, as in `enum MyError {{ Db(#[from] sqlx::Error), Idem(#[from] idem::Error) }}`"
)]
pub trait CarriesIdem {
    /// The error that carries `error`.
    #[doc(hidden)]
    fn carry(error: Error) -> Self;
}

/// Witnesses that an operation may return `R`. The bound stands here and nowhere else on a call's way, so that a type that
/// does not meet it is reported once.
#[must_use]
pub const fn returns<R: Reply>() -> Returns<R, R::Error> {
    Returns {
        refusal: R::refusal,
        encode: R::encode,
        decode: R::decode,
        error: R::error,
        of_error: R::of_error,
        with_seen: R::with_seen,
        judge: Judge::new(),
    }
}

type Encode<R> = fn(&R, Codec, usize) -> Option<Result<Vec<u8>, EncodeError>>;

/// What [`Reply`] can do, as functions: see [`returns`].
pub struct Returns<R, E> {
    pub(crate) refusal: fn(Error) -> R,
    encode: Encode<R>,
    decode: fn(Codec, &[u8]) -> Result<R, DecodeError>,
    error: fn(&R) -> Option<&E>,
    of_error: fn(E) -> R,
    pub(crate) with_seen: fn(R, Seen) -> R,
    judge: Judge<E>,
}

impl<R, E> Returns<R, E> {
    /// The type alone.
    #[must_use]
    pub const fn typed(&self) -> Typed<R> {
        Typed(PhantomData)
    }

    /// Leaves the outcome unknown after the errors that `which` picks.
    #[must_use]
    pub const fn hold(mut self, which: fn(&E) -> bool) -> Self {
        self.judge = self.judge.hold(which);
        self
    }

    /// Keeps the errors that `which` picks.
    #[must_use]
    pub const fn keep(mut self, which: fn(&E) -> bool) -> Self
    where
        E: KeepableError,
    {
        self.judge = self.judge.keep(which);
        self
    }

    /// Lets other arguments follow after the errors that `which` picks.
    #[must_use]
    pub const fn reject(mut self, which: fn(&E) -> bool) -> Self {
        self.judge = self.judge.reject(which);
        self
    }

    /// Tells errors apart by `judge`.
    #[must_use]
    pub(crate) const fn judged(mut self, judge: Judge<E>) -> Self {
        self.judge = judge;
        self
    }

    /// Whether an outcome may be left unknown.
    pub(crate) const fn may_hold(&self) -> bool {
        self.judge.hold.is_some()
    }

    /// How the attempt that came to `result` ends.
    pub(crate) fn verdict(&self, result: &R, codec: Codec, max: usize) -> Verdict {
        match ((self.encode)(result, codec, max), (self.error)(result)) {
            (Some(encoded), _) => Verdict::Ended(Ending::Completed, encoded),
            (None, Some(error)) => self.judge.verdict(error, codec, max),
            (None, None) => Verdict::GivenUp(GivenUp::Released),
        }
    }

    /// The answer that a kept result stands for. A kept error that this function would not keep cannot be read.
    pub(crate) fn read(&self, ending: Ending, codec: Codec, payload: &[u8]) -> Result<R, DecodeError> {
        match ending {
            Ending::Completed => (self.decode)(codec, payload),
            Ending::Failed => self.judge.read(codec, payload).map(self.of_error),
        }
    }
}

/// What a function returns, as a type.
pub struct Typed<R>(PhantomData<fn() -> R>);

impl<R> Typed<R> {
    /// Nothing. An early `return` of it types the body's block as the function's own, with all coercions.
    #[must_use]
    pub const fn never(self) -> Option<R> {
        let Self(PhantomData) = self;
        None
    }
}

impl<R> fmt::Debug for Typed<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Typed")
    }
}

impl<T, E> Returns<Result<T, E>, E> {
    /// What was answered to the question what became of an earlier attempt, as an answer of the function's.
    ///
    /// No bound on a future: what is wrong with one is told several times.
    pub fn asked(&self, answer: Result<Option<T>, E>) -> Option<Result<T, E>> {
        answer.transpose()
    }
}

impl<R, E> Clone for Returns<R, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R, E> Copy for Returns<R, E> {}

impl<R, E> fmt::Debug for Returns<R, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Returns")
    }
}

impl<T: Keepable, E: CarriesIdem> Reply for Result<T, E> {
    type Error = E;

    fn refusal(error: Error) -> Self {
        Err(E::carry(error))
    }

    fn encode(&self, codec: Codec, max: usize) -> Option<Result<Vec<u8>, EncodeError>> {
        self.as_ref().ok().map(|value| value.encode(codec, max))
    }

    fn decode(codec: Codec, payload: &[u8]) -> Result<Self, DecodeError> {
        T::decode(codec, payload).map(Ok)
    }

    fn error(&self) -> Option<&E> {
        self.as_ref().err()
    }

    fn of_error(error: E) -> Self {
        Err(error)
    }

    fn with_seen(self, seen: Seen) -> Self {
        self.map(|value| value.with_seen(seen))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Keepable for T {
    fn encode(&self, codec: Codec, max: usize) -> Result<Vec<u8>, EncodeError> {
        codec.encode_kept(self, max)
    }

    fn decode(codec: Codec, payload: &[u8]) -> Result<Self, DecodeError> {
        codec.decode(payload)
    }

    fn with_seen(self, _: Seen) -> Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Keepable for Outcome<T> {
    fn encode(&self, codec: Codec, max: usize) -> Result<Vec<u8>, EncodeError> {
        codec.encode_kept(&**self, max)
    }

    fn decode(codec: Codec, payload: &[u8]) -> Result<Self, DecodeError> {
        codec.decode::<T>(payload).map(Self::from)
    }

    fn with_seen(self, seen: Seen) -> Self {
        Outcome::with_seen(self, seen)
    }
}

#[diagnostic::do_not_recommend]
impl<E: From<Error>> CarriesIdem for E {
    fn carry(error: Error) -> Self {
        error.into()
    }
}

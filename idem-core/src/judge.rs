//! What a body's own error says of its effect: whether the same call may run again, nobody knows, nothing happened, or the
//! error is final and kept.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::codec::{Codec, DecodeError, EncodeError};
use crate::record::Ending;
use crate::store::GivenUp;

/// Tells the errors of an operation apart. By default the same call may run again after each.
pub(crate) struct Judge<E> {
    pub(crate) hold: Option<fn(&E) -> bool>,
    keep: Option<Keep<E>>,
    reject: Option<fn(&E) -> bool>,
}

/// Which errors are kept, and how.
struct Keep<E> {
    which: fn(&E) -> bool,
    encode: fn(&E, Codec, usize) -> Result<Vec<u8>, EncodeError>,
    decode: fn(Codec, &[u8]) -> Result<E, DecodeError>,
}

/// How an attempt ends.
pub(crate) enum Verdict {
    /// It has a result to keep.
    Ended(Ending, Result<Vec<u8>, EncodeError>),
    /// It has none.
    GivenUp(GivenUp),
}

/// An error that can be kept and replayed: one that serde can write and read.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be kept and replayed",
    label = "an error that `keep` is to keep is stored, and given to every repeat",
    note = "derive `serde::Serialize` and `serde::Deserialize` for it, with `#[serde(skip)]` on its variant for idem's own error, which is never kept"
)]
pub trait KeepableError: Sized {
    #[doc(hidden)]
    fn encode(&self, codec: Codec, max: usize) -> Result<Vec<u8>, EncodeError>;
    #[doc(hidden)]
    fn decode(codec: Codec, payload: &[u8]) -> Result<Self, DecodeError>;
}

#[diagnostic::do_not_recommend]
impl<E: Serialize + DeserializeOwned> KeepableError for E {
    fn encode(&self, codec: Codec, max: usize) -> Result<Vec<u8>, EncodeError> {
        codec.encode_kept(self, max)
    }

    fn decode(codec: Codec, payload: &[u8]) -> Result<Self, DecodeError> {
        codec.decode(payload)
    }
}

impl<E> Judge<E> {
    /// Every error lets the same call run again.
    #[must_use]
    pub(crate) const fn new() -> Self {
        Self { hold: None, keep: None, reject: None }
    }

    /// After these errors nobody knows whether the effect happened.
    #[must_use]
    pub(crate) const fn hold(mut self, which: fn(&E) -> bool) -> Self {
        self.hold = Some(which);
        self
    }

    /// These errors are final.
    #[must_use]
    pub(crate) const fn keep(mut self, which: fn(&E) -> bool) -> Self
    where
        E: KeepableError,
    {
        self.keep = Some(Keep { which, encode: E::encode, decode: E::decode });
        self
    }

    /// These errors say that nothing happened.
    #[must_use]
    pub(crate) const fn reject(mut self, which: fn(&E) -> bool) -> Self {
        self.reject = Some(which);
        self
    }

    pub(crate) fn verdict(&self, error: &E, codec: Codec, max: usize) -> Verdict {
        if self.hold.is_some_and(|which| which(error)) {
            return Verdict::GivenUp(GivenUp::Held);
        }
        if let Some(keep) = self.keep.as_ref().filter(|keep| (keep.which)(error)) {
            match (keep.encode)(error, codec, max) {
                // As one that holds an error of idem's own, whose variant is skipped: that one is none to keep.
                Err(EncodeError::Serialize) => {}
                encoded => return Verdict::Ended(Ending::Failed, encoded),
            }
        }
        let rejected = self.reject.is_some_and(|which| which(error));
        Verdict::GivenUp(if rejected { GivenUp::Rejected } else { GivenUp::Released })
    }

    pub(crate) fn read(&self, codec: Codec, payload: &[u8]) -> Result<E, DecodeError> {
        let keep = self.keep.as_ref().ok_or_else(DecodeError::error_kept::<E>)?;
        (keep.decode)(codec, payload)
    }
}

impl<E> Clone for Judge<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Judge<E> {}

impl<E> Clone for Keep<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Keep<E> {}

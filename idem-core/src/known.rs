//! A result that is known, and replayed.

use bytes::Bytes;

use crate::clock;
use crate::codec::{Codec, DecodeReason};
use crate::engine::Engine;
use crate::error::{Error, Failure};
use crate::metrics;
use crate::observed::Observed;
use crate::outcome::Seen;
use crate::record::{Ending, Kept};
use crate::reply::Returns;
use crate::store::Replay;

/// A result that is known.
pub(crate) struct Known {
    engine: Engine,
    observed: Observed,
    ending: Ending,
    codec: Codec,
    payload: Bytes,
    seen: Seen,
}

impl Known {
    pub(crate) fn new(engine: Engine, observed: Observed, replay: Replay) -> Result<Self, Error> {
        let Replay { fence, attempt, ending, kept: Kept { codec, payload, trace } } = replay;
        if let Some(made_in) = trace {
            observed.link(made_in);
        }
        let codec = codec.ok_or_else(|| observed.refuse(Failure::ResultNotKept))?;
        let seen = Seen { replayed: true, recorded: true, vanished: false, attempt, fence, age: clock::age(fence) };
        Ok(Self { engine, observed, ending, codec, payload, seen })
    }

    pub(crate) fn replay<R, E>(self, returns: &Returns<R, E>) -> R {
        let decoded = returns.read(self.ending, self.codec, &self.payload).or_else(|error| {
            if error.reason() == DecodeReason::ErrorKept {
                return Err(error);
            }
            let migrated =
                self.engine.migrate(self.observed.instruments().operation(), self.codec, &self.payload).ok_or(error)?;
            returns.read(self.ending, self.codec, &migrated)
        });
        match decoded {
            Ok(result) => {
                self.observed.replayed(&self.seen);
                (returns.with_seen)(result, self.seen)
            }
            Err(error) => {
                self.observed.instruments().add_one(metrics::UNDECODABLE);
                (returns.refusal)(self.observed.refuse(Failure::Undecodable(error)))
            }
        }
    }
}

//! A result that is known, and replayed.

use std::borrow::Cow;

use bytes::Bytes;

use crate::clock;
use crate::codec::Codec;
use crate::engine::Engine;
use crate::error::{Error, Failure};
use crate::metrics::{self, Counters};
use crate::outcome::Seen;
use crate::record::{Ending, Kept};
use crate::reply::Returns;
use crate::store::Replay;

/// A result that is known.
pub(crate) struct Known {
    engine: Engine,
    operation: Cow<'static, str>,
    counters: Counters,
    ending: Ending,
    codec: Codec,
    payload: Bytes,
    seen: Seen,
}

impl Known {
    pub(crate) fn new(
        engine: Engine,
        operation: Cow<'static, str>,
        counters: Counters,
        replay: Replay,
    ) -> Result<Self, Failure> {
        let Replay { fence, attempt, ending, kept: Kept { codec, payload } } = replay;
        let codec = codec.ok_or(Failure::ResultNotKept)?;
        let seen = Seen { replayed: true, recorded: true, vanished: false, attempt, fence, age: clock::age(fence) };
        Ok(Self { engine, operation, counters, ending, codec, payload, seen })
    }

    pub(crate) fn replay<R, E>(self, returns: Returns<R, E>) -> R {
        let decoded = returns.read(self.ending, self.codec, &self.payload).or_else(|error| {
            let migrated = self.engine.migrate(&self.operation, self.codec, &self.payload).ok_or(error)?;
            returns.read(self.ending, self.codec, &migrated)
        });
        match decoded {
            Ok(result) => {
                self.counters.add_one(metrics::DUPLICATES_SUPPRESSED);
                self.counters.call("replayed");
                (returns.with_seen)(result, self.seen)
            }
            Err(error) => (returns.refusal)(Error::refusing(self.operation, Failure::Undecodable(error))),
        }
    }
}

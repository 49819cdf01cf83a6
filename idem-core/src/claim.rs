//! What a claim came to: one that is [`Held`], whose body runs and is then completed or released, or a result that is
//! [`Known`] and replayed.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;

use crate::attempt::Attempt;
use crate::clock;
use crate::codec::{Codec, EncodeError};
use crate::engine::{Engine, Request};
use crate::error::{Error, ErrorKind, Failure};
use crate::lease::Lease;
use crate::metrics::{self, Counters};
use crate::outcome::Seen;
use crate::record::{Fence, Kept, Token};
use crate::reply::Returns;
use crate::store::{Complete, CompleteReply, Grant, Owner, Replay, StoreError};

/// A claim that is held.
pub(crate) struct Held {
    engine: Engine,
    request: Request,
    counters: Counters,
    owner: Owner,
    lease: Lease,
    attempt: Attempt,
}

impl Held {
    pub(crate) fn new(
        engine: Engine,
        request: Request,
        counters: Counters,
        token: Token,
        grant: Grant,
        lease: Lease,
    ) -> Self {
        let owner = Owner { token, fence: grant.fence };
        Self { engine, request, counters, owner, lease, attempt: Attempt::new(grant, lease) }
    }

    pub(crate) fn attempt(&self) -> &Attempt {
        &self.attempt
    }

    /// Runs `body`, then completes with its value or releases after its error. A panic of the body passes through, and
    /// nothing is sent: as after a crash, the lease runs out.
    pub(crate) async fn run<R, F: Future<Output = R>>(self, returns: Returns<R>, body: Pin<&mut F>) -> R {
        let result = {
            let _running = self.counters.running();
            self.attempt.scope(body).await
        };
        let Some(encoded) = (returns.encode)(&result, Codec::Json, self.request.policy.max_result_bytes()) else {
            self.release().await;
            return result;
        };
        let kept = self.kept(encoded);
        match self.complete(kept).await {
            Ok(seen) => (returns.with_seen)(result, seen),
            Err(error) => (returns.refusal)(error),
        }
    }

    fn kept(&self, encoded: Result<Vec<u8>, EncodeError>) -> Kept {
        match encoded {
            Ok(payload) => Kept { codec: Some(Codec::Json), payload: payload.into() },
            Err(error) => {
                tracing::warn!(
                    operation = self.request.operation.name(),
                    error = &error as &dyn std::error::Error,
                    "the result cannot be kept; repeats will be told so"
                );
                Kept { codec: None, payload: Bytes::new() }
            }
        }
    }

    fn complete(self, kept: Kept) -> Pin<Box<dyn Future<Output = Result<Seen, Error>> + Send>> {
        Box::pin(async move {
            let result = match self.ask_to_complete(kept).await {
                Ok(CompleteReply::Completed | CompleteReply::Already) => Ok(true),
                Ok(CompleteReply::Restored) => {
                    self.counters.add_one(metrics::VANISHED);
                    tracing::warn!(
                        operation = self.request.operation.name(),
                        "the store lost this claim's record; it was written again with the result"
                    );
                    Ok(true)
                }
                Ok(CompleteReply::Absent | CompleteReply::Corrupt(_)) | Err(_) => {
                    self.counters.add_one(metrics::UNRECORDED);
                    tracing::error!(
                        operation = self.request.operation.name(),
                        "the operation ran, but its result could not be recorded: a repeat may run it again"
                    );
                    Ok(false)
                }
                Ok(CompleteReply::Lost) => Err(Failure::LeaseLost),
            };
            self.conclude(result)
        })
    }

    fn conclude(self, result: Result<bool, Failure>) -> Result<Seen, Error> {
        match result {
            Ok(recorded) => {
                self.counters.call("executed");
                let attempt = self.attempt.number();
                Ok(Seen { replayed: false, recorded, attempt, fence: self.owner.fence, age: Duration::ZERO })
            }
            Err(failure) => {
                let error = Error::new(Some(self.request.operation.shared_name()), failure);
                self.counters.add_one(metrics::LEASES_LOST);
                self.counters.call(ErrorKind::as_str(error.kind()));
                Err(error)
            }
        }
    }

    /// Sends the completion, again and again while the lease lasts if there is no clear answer: the same completion
    /// recognises itself.
    async fn ask_to_complete(&self, kept: Kept) -> Result<CompleteReply, StoreError> {
        let mut request = Complete {
            operation: self.request.operation.clone(),
            owner: self.owner,
            attempt: self.attempt.number(),
            fingerprint: self.request.fingerprint,
            kept,
            retention: self.request.policy.retention_millis(),
            restore: true,
        };
        let mut pause = Duration::from_millis(5);
        loop {
            request.restore = !self.lease.remaining().is_zero();
            let error = match self.engine.bounded(self.engine.store().complete(&request)).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            self.counters.store_error("complete", &error);
            if self.lease.remaining() < pause {
                return Err(error);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }

    fn release(self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            let request = self.request.release(self.owner.token, Some(self.owner.fence));
            if let Err(error) = self.engine.bounded(self.engine.store().release(&request)).await {
                self.counters.store_error("release", &error);
            }
            self.counters.call("failed");
        })
    }
}

/// A result that is known.
pub(crate) struct Known {
    operation: Cow<'static, str>,
    counters: Counters,
    codec: Codec,
    payload: Bytes,
    seen: Seen,
}

impl Known {
    pub(crate) fn new(operation: Cow<'static, str>, counters: Counters, replay: Replay) -> Result<Self, Failure> {
        let Replay { fence, attempt, kept: Kept { codec, payload } } = replay;
        let codec = codec.ok_or(Failure::ResultNotKept)?;
        let seen = Seen { replayed: true, recorded: true, attempt, fence, age: age(fence) };
        Ok(Self { operation, counters, codec, payload, seen })
    }

    pub(crate) fn replay<R>(self, returns: Returns<R>) -> R {
        match (returns.decode)(self.codec, &self.payload) {
            Ok(result) => {
                self.counters.add_one(metrics::DUPLICATES_SUPPRESSED);
                self.counters.call("replayed");
                (returns.with_seen)(result, self.seen)
            }
            Err(error) => {
                let error = Error::new(Some(self.operation), Failure::Undecodable(error));
                self.counters.call(ErrorKind::as_str(error.kind()));
                (returns.refusal)(error)
            }
        }
    }
}

/// How long ago a claim with this fence was made: fences are microseconds of the wall clock, unless clocks differed.
fn age(fence: Fence) -> Duration {
    Duration::from_micros(clock::proposed_fence().get().saturating_sub(fence.get()))
}

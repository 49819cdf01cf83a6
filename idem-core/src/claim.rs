//! What a claim came to: one that is [`Held`], whose body runs and is then completed or released, or a result that is
//! [`Known`] and replayed.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::attempt::Attempt;
use crate::clock::{self, Instant};
use crate::codec::{Codec, EncodeError};
use crate::engine::{Engine, Request};
use crate::error::{Error, Failure};
use crate::keeper::{Errand, Keeper, Place};
use crate::lease::{Lease, Loss};
use crate::metrics::{self, Counters};
use crate::outcome::Seen;
use crate::record::{Ending, Kept};
use crate::reply::Returns;
use crate::store::{Claim, Complete, CompleteReply, GivenUp, Grant, Owner, Renew, RenewReply, Replay};

/// A claim that was won, as its body, its keeper and its end see it.
pub(crate) struct Claimed {
    request: Request,
    claim: Claim,
    grant: Grant,
    lease: Lease,
    counters: Counters,
}

impl Claimed {
    pub(crate) fn new(request: Request, claim: Claim, grant: Grant, lease: Lease, counters: Counters) -> Self {
        Self { request, claim, grant, lease, counters }
    }

    pub(crate) fn grant(&self) -> &Grant {
        &self.grant
    }

    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }

    fn operation(&self) -> &str {
        self.request.operation.name()
    }

    fn owner(&self) -> Owner {
        Owner { token: self.claim.token, fence: self.grant.fence }
    }

    /// Asks the store once for another lease. `None` without a clear answer within `bound`.
    pub(crate) async fn renew(&self, engine: &Engine, bound: Duration) -> Option<RenewReply> {
        let request = Renew::of(self.claim.clone(), self.grant, !self.lease.remaining().is_zero());
        let answer = engine.bounded(bound, engine.store().renew(&request)).await;
        answer.inspect_err(|error| self.counters.store_error("renew", error)).ok()
    }

    /// Tells the holder what a renewal that was sent at `sent` came to.
    pub(crate) fn hear(&self, reply: RenewReply, sent: Instant) {
        match reply {
            RenewReply::Renewed => self.lease.extend(sent),
            RenewReply::Reasserted => {
                self.lease.extend(sent);
                self.note_vanished();
            }
            RenewReply::Lost => self.lose(),
            RenewReply::Absent | RenewReply::Uncertain | RenewReply::Corrupt(_) => {}
        }
    }

    pub(crate) fn warn_of_doubt(&self) {
        tracing::warn!(
            operation = self.operation(),
            fence = self.grant.fence.get(),
            "a running body's lease could not be renewed in time; whether it still holds is unknown"
        );
    }

    fn lose(&self) {
        if self.lease.lose() {
            self.counters.add_one(metrics::LEASES_LOST);
            tracing::warn!(
                operation = self.operation(),
                fence = self.grant.fence.get(),
                "a running body's lease was lost to another call"
            );
        }
    }

    fn note_vanished(&self) {
        self.lease.note_vanished();
        self.counters.add_one(metrics::VANISHED);
        tracing::warn!(
            operation = self.operation(),
            fence = self.grant.fence.get(),
            "the store lost a claim's record; it was written again"
        );
    }

    /// The request that settles this claim with `kept`.
    fn complete(&self, kept: Kept) -> Complete {
        Complete {
            operation: self.request.operation.clone(),
            owner: self.owner(),
            attempt: self.grant.attempt,
            fingerprint: self.request.fingerprint,
            ending: Ending::Completed,
            kept,
            retention: self.request.policy.retention_millis(),
            restore: true,
        }
    }
}

/// A claim that is held by a call.
///
/// Dropped before its body began, it is released: nothing can have happened. Dropped while the body runs, nothing is sent:
/// nobody can know how far it came. Dropped after the body's end, its keeper sends what is still unanswered.
pub(crate) struct Held {
    engine: Engine,
    keeper: Keeper,
    claim: Arc<Claimed>,
    /// Its place with the keeper, while it is to be renewed.
    place: Option<Place>,
    /// What its keeper is to send should it be dropped now.
    left_to_send: Option<Errand>,
}

impl Held {
    pub(crate) fn new(engine: Engine, keeper: Keeper, claim: Claimed) -> Self {
        let max_run = claim.request.policy.renewed_for();
        let claim = Arc::new(claim);
        let place = Some(keeper.hold(Arc::clone(&claim), max_run));
        let left_to_send = Some(Errand::Release(claim.request.retract(claim.claim.token)));
        Self { engine, keeper, claim, place, left_to_send }
    }

    /// From here on the body may have done something.
    pub(crate) fn begin(&mut self) {
        self.left_to_send = None;
    }

    pub(crate) fn attempt(&self) -> Attempt {
        Attempt::new(Arc::clone(&self.claim))
    }

    /// Runs `body`, then completes with its value or releases after its error. A panic of the body passes through, and
    /// nothing is sent: as after a crash, the lease runs out.
    pub(crate) async fn run<R, F: Future<Output = R>>(
        mut self: Box<Self>,
        returns: Returns<R>,
        body: Pin<&mut F>,
    ) -> R {
        let ended = self.run_until_lost(body).await;
        self.place = None;
        let Ok(result) = ended else {
            return (returns.refusal)(self.lost());
        };
        let max_result = self.claim.request.policy.max_result_bytes();
        let Some(encoded) = (returns.encode)(&result, self.engine.codec(), max_result) else {
            self.release().await;
            return result;
        };
        match self.complete(encoded).await {
            Ok(seen) => (returns.with_seen)(result, seen),
            Err(error) => (returns.refusal)(error),
        }
    }

    /// The body's own end, or the loss that ends it.
    async fn run_until_lost<R, F: Future<Output = R>>(&mut self, body: Pin<&mut F>) -> Result<R, Loss> {
        let _running = self.claim.counters.running();
        self.begin();
        let attempt = self.attempt();
        let Some(least) = self.claim.request.policy.cancelled_by() else {
            return Ok(attempt.scope(body).await);
        };
        tokio::select! {
            biased;
            result = attempt.scope(body) => Ok(result),
            loss = self.claim.lease.lost(least) => Err(loss),
        }
    }

    fn complete(
        mut self: Box<Self>,
        encoded: Result<Vec<u8>, EncodeError>,
    ) -> Pin<Box<dyn Future<Output = Result<Seen, Error>> + Send>> {
        Box::pin(async move {
            if self.claim.lease.loss() == Some(Loss::Lost) {
                return Err(self.lost());
            }
            let mut request = self.claim.complete(self.kept(encoded));
            let until = self.claim.lease.sure_until();
            self.left_to_send = Some(Errand::Complete(request.clone()));
            let reply = self.engine.complete(&mut request, &self.claim.counters, until).await;
            self.left_to_send = None;
            match reply {
                Ok(CompleteReply::Completed | CompleteReply::Already) => Ok(self.executed(true)),
                Ok(CompleteReply::Restored) => {
                    self.claim.note_vanished();
                    Ok(self.executed(true))
                }
                Ok(CompleteReply::Absent | CompleteReply::Corrupt(_)) | Err(_) => {
                    self.claim.counters.add_one(metrics::UNRECORDED);
                    tracing::error!(
                        operation = self.claim.operation(),
                        fence = self.claim.grant.fence.get(),
                        "the operation ran, but its result could not be recorded: a repeat may run it again"
                    );
                    Ok(self.executed(false))
                }
                Ok(CompleteReply::Lost) => Err(self.lost()),
            }
        })
    }

    fn kept(&self, encoded: Result<Vec<u8>, EncodeError>) -> Kept {
        match encoded {
            Ok(payload) => Kept { codec: Some(self.engine.codec()), payload: payload.into() },
            Err(error) => {
                tracing::warn!(
                    operation = self.claim.operation(),
                    error = &error as &dyn std::error::Error,
                    "the result cannot be kept; repeats will be told so"
                );
                Kept { codec: None, payload: Bytes::new() }
            }
        }
    }

    fn executed(&self, recorded: bool) -> Seen {
        self.claim.counters.call("executed");
        let Grant { fence, attempt, .. } = self.claim.grant;
        let vanished = self.claim.lease.has_vanished();
        Seen { replayed: false, recorded, vanished, attempt, fence, age: Duration::ZERO }
    }

    fn lost(&self) -> Error {
        self.claim.lose();
        let failure = Failure::LeaseLost { retry_after: self.claim.lease.length() };
        Error::refusing(self.claim.request.operation.shared_name(), failure)
    }

    /// Releases after an error of the body: at once if the store answers, else through the keeper.
    fn release(mut self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            let request =
                self.claim.request.release(self.claim.claim.token, Some(self.claim.grant.fence), GivenUp::Released);
            self.left_to_send = Some(Errand::Release(request.clone()));
            if self.engine.try_release(&request).await.is_ok() {
                self.left_to_send = None;
            }
            self.claim.counters.call("failed");
        })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(errand) = self.left_to_send.take() {
            self.keeper.send(errand, self.claim.counters.clone(), self.claim.lease.sure_until());
        }
    }
}

/// A result that is known.
pub(crate) struct Known {
    engine: Engine,
    operation: Cow<'static, str>,
    counters: Counters,
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
        let Replay { fence, attempt, ending: _, kept: Kept { codec, payload } } = replay;
        let codec = codec.ok_or(Failure::ResultNotKept)?;
        let seen = Seen { replayed: true, recorded: true, vanished: false, attempt, fence, age: clock::age(fence) };
        Ok(Self { engine, operation, counters, codec, payload, seen })
    }

    pub(crate) fn replay<R>(self, returns: Returns<R>) -> R {
        let decoded = (returns.decode)(self.codec, &self.payload).or_else(|error| {
            let migrated = self.engine.migrate(&self.operation, self.codec, &self.payload).ok_or(error)?;
            (returns.decode)(self.codec, &migrated)
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

//! A claim that is held by a call: asked about if its outcome is in doubt, run, then completed or given up.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;

use crate::attempt::Attempt;
use crate::choices::OnUnrecorded;
use crate::claim::Claimed;
use crate::clock::Instant;
use crate::codec::EncodeError;
use crate::engine::Engine;
use crate::error::{Error, Failure};
use crate::judge::Verdict;
use crate::keeper::{Errand, Keeper, Place};
use crate::lease::Loss;
use crate::metrics;
use crate::observed::Observed;
use crate::outcome::{self, Seen};
use crate::record::{Ending, Kept};
use crate::reply::Returns;
use crate::store::{CompleteReply, GivenUp, Grant, ReleaseReply};
use crate::visits::Visit;

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
    /// When the body began.
    began: Option<Instant>,
    visit: Visit,
    observed: Observed,
}

impl Held {
    pub(crate) fn new(engine: Engine, keeper: Keeper, claim: Claimed, visit: Visit, observed: Observed) -> Self {
        let max_run = claim.request().policy.renewed_for();
        let claim = Arc::new(claim);
        let place = claim.is_protected().then(|| keeper.hold(Arc::clone(&claim), max_run));
        let left_to_send = claim.is_protected().then(|| Errand::Release(claim.retract()));
        Self { engine, keeper, claim, place, left_to_send, began: None, visit, observed }
    }

    /// From here on the body may have done something.
    fn begin(&mut self) {
        self.left_to_send = None;
        self.began.get_or_insert_with(Instant::now);
    }

    pub(crate) fn attempt(&self) -> Attempt {
        Attempt::new(Arc::clone(&self.claim))
    }

    /// Whether it was won to ask for an outcome that nobody knows.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.claim.grant().origin.is_doubt()
    }

    /// Asks what became of the attempts before: a result, which is completed and given; an error of the asking, after which
    /// the outcome is as unknown as before; or nothing, so that the body may run.
    ///
    /// Dropped meanwhile, the outcome is as unknown as before.
    pub(crate) async fn ask<R, E>(
        mut self: Box<Self>,
        returns: &Returns<R, E>,
        ask: Pin<&mut impl Future<Output = Option<R>>>,
    ) -> Result<Box<Self>, R> {
        let answer = match self.run_until_lost(ask).await {
            Ok(Some(answer)) => answer,
            // Another one may have asked and run meanwhile. Dropped, the outcome is as unknown as before.
            Ok(None) if self.claim.lease().remaining().is_zero() => {
                let failure = Failure::Uncertain { fence: self.claim.grant().fence };
                return Err((returns.refusal)(self.observed.refuse(failure)));
            }
            Ok(None) => return Ok(self),
            Err(_) => return Err((returns.refusal)(self.lost())),
        };
        self.place = None;
        let Verdict::Ended(Ending::Completed, encoded) = self.verdict(returns, &answer) else {
            self.give_up(GivenUp::Held).await;
            return Err(answer);
        };
        Err(match self.complete(Ending::Completed, encoded).await {
            Ok(recorded) => (returns.with_seen)(answer, self.recovered(recorded)),
            Err(error) => (returns.refusal)(error),
        })
    }

    /// Runs `body`, then completes with its result or gives the claim up. A panic of the body passes through, and nothing
    /// is sent: as after a crash, the lease runs out.
    pub(crate) async fn run<R, E, F: Future<Output = R>>(
        mut self: Box<Self>,
        returns: &Returns<R, E>,
        body: Pin<&mut F>,
    ) -> R {
        self.begin();
        let ended = self.run_until_lost(body).await;
        let mut end = pin!(self.end(returns, ended));
        poll_fn(|cx| poll_apart(end.as_mut(), cx)).await
    }

    /// What comes after the body: not of its type, so that it is compiled once for all that return `R`.
    async fn end<R, E>(mut self: Box<Self>, returns: &Returns<R, E>, ended: Result<R, Loss>) -> R {
        self.place = None;
        let Ok(result) = ended else {
            return (returns.refusal)(self.lost());
        };
        self.measure();
        if !self.claim.is_protected() {
            return (returns.with_seen)(result, self.unprotected());
        }
        match self.verdict(returns, &result) {
            Verdict::Ended(ending, encoded) => match self.complete(ending, encoded).await {
                Ok(recorded) => (returns.with_seen)(result, self.executed(ending, recorded)),
                Err(error) => (returns.refusal)(error),
            },
            Verdict::GivenUp(given_up) => {
                self.give_up(given_up).await;
                result
            }
        }
    }

    /// [`run`](Self::run) of a body that is still a closure. What stands before its first await is part of it as well.
    pub(crate) async fn run_closure<R, E>(
        mut self: Box<Self>,
        returns: &Returns<R, E>,
        body: impl AsyncFnOnce(Attempt) -> R,
    ) -> R {
        self.begin();
        let body = pin!(body(self.attempt()));
        self.run(returns, body).await
    }

    /// What there is to be measured at a body's own end.
    fn measure(&self) {
        let ended = Instant::now();
        let instruments = self.claim.instruments();
        if let Some(began) = self.began {
            instruments.record(metrics::BODY_SECONDS, (ended - began).as_secs_f64());
        }
        if self.claim.is_protected() {
            let left = self.claim.lease().sure_until().saturating_duration_since(ended);
            instruments.record(metrics::LEASE_LEFT_SECONDS, left.as_secs_f64());
        }
    }

    fn verdict<R, E>(&self, returns: &Returns<R, E>, result: &R) -> Verdict {
        returns.verdict(result, self.engine.codec(), self.claim.request().policy.max_result_bytes())
    }

    /// The future's own end, or the loss that ends it.
    async fn run_until_lost<R, F: Future<Output = R>>(&self, mut future: Pin<&mut F>) -> Result<R, Loss> {
        let _running = self.claim.instruments().running();
        let attempt = self.attempt();
        let mut lost = pin!(self.told_of_loss());
        poll_fn(|cx| {
            let mut polled = Poll::Pending;
            let mut poll = |cx: &mut Context<'_>| {
                polled = future.as_mut().poll(cx);
                polled.is_ready()
            };
            let lost = self.poll_as(&attempt, lost.as_mut(), cx, &mut poll);
            match polled {
                Poll::Ready(result) => Poll::Ready(Ok(result)),
                Poll::Pending => lost.map(Err),
            }
        })
        .await
    }

    /// Polls a body as `attempt`, in the call's span, and then whether it has lost its lease. Only the polls are inside, so
    /// that nothing of the caller's is. The body's type is left out: this is compiled once.
    fn poll_as(
        &self,
        attempt: &Attempt,
        lost: Pin<&mut dyn Future<Output = Loss>>,
        cx: &mut Context<'_>,
        poll: &mut dyn FnMut(&mut Context<'_>) -> bool,
    ) -> Poll<Loss> {
        let is_done = self.observed.span().in_scope(|| attempt.enter(|| poll(cx)));
        if is_done { Poll::Pending } else { lost.poll(cx) }
    }

    /// Waits for a loss that ends a body.
    async fn told_of_loss(&self) -> Loss {
        match self.claim.request().policy.cancelled_by() {
            Some(least) => self.claim.lease().lost(least).await,
            None => std::future::pending().await,
        }
    }

    /// Completes with a result. Whether it is recorded; an error, if another call followed, or if the policy wants one.
    fn complete(
        &mut self,
        ending: Ending,
        encoded: Result<Vec<u8>, EncodeError>,
    ) -> Pin<Box<dyn Future<Output = Result<bool, Error>> + Send + '_>> {
        Box::pin(async move {
            if self.claim.lease().loss() == Some(Loss::Lost) {
                return Err(self.lost());
            }
            let mut request = self.claim.complete(ending, self.kept(encoded));
            let until = self.claim.lease().sure_until();
            self.left_to_send = Some(Errand::Complete(request.clone()));
            let sent = self.engine.complete(&mut request, self.claim.instruments(), until);
            let reply = self.observed.inside(sent).await;
            self.left_to_send = None;
            match reply {
                Ok(CompleteReply::Completed | CompleteReply::Already) => Ok(true),
                Ok(CompleteReply::Restored) => {
                    self.claim.note_vanished();
                    Ok(true)
                }
                Ok(CompleteReply::Absent | CompleteReply::Corrupt(_)) | Err(_) => self.unrecorded(ending, request.kept),
                Ok(CompleteReply::Lost) => Err(self.lost()),
            }
        })
    }

    fn kept(&self, encoded: Result<Vec<u8>, EncodeError>) -> Kept {
        match encoded {
            Ok(payload) => {
                #[expect(clippy::cast_precision_loss, reason = "a size is not exact above 2^52")]
                self.claim.instruments().record(metrics::RESULT_BYTES, payload.len() as f64);
                Kept { codec: Some(self.engine.codec()), payload: payload.into(), trace: self.observed.trace() }
            }
            Err(error) => {
                tracing::warn!(
                    parent: self.observed.span(),
                    operation = self.claim.operation(),
                    error = &error as &dyn std::error::Error,
                    "the result cannot be kept; repeats will be told so"
                );
                Kept { codec: None, payload: Bytes::new(), trace: None }
            }
        }
    }

    fn unrecorded(&self, ending: Ending, kept: Kept) -> Result<bool, Error> {
        self.claim.instruments().add_one(metrics::UNRECORDED);
        tracing::error!(
            parent: self.observed.span(),
            operation = self.claim.operation(),
            fence = self.claim.grant().fence.get(),
            "the operation ran, but its result could not be recorded: a repeat may run it again"
        );
        // The body's own error says as much as one of ours.
        if ending == Ending::Completed && self.claim.request().policy.unrecorded() == OnUnrecorded::Fail {
            return Err(self.observed.refuse(Failure::Unrecorded(kept)));
        }
        Ok(false)
    }

    fn executed(&self, ending: Ending, recorded: bool) -> Seen {
        self.observed.end(match ending {
            Ending::Completed => "executed",
            Ending::Failed => "failed",
        });
        self.seen(false, recorded)
    }

    fn recovered(&self, recorded: bool) -> Seen {
        self.observed.end("recovered");
        self.seen(true, recorded)
    }

    fn unprotected(&self) -> Seen {
        self.observed.end("unprotected");
        self.seen(false, false)
    }

    fn seen(&self, replayed: bool, recorded: bool) -> Seen {
        let Grant { fence, attempt, .. } = *self.claim.grant();
        let vanished = self.claim.lease().has_vanished();
        let seen = Seen { replayed, recorded, vanished, attempt, fence, age: Duration::ZERO };
        outcome::note(Some(seen));
        seen
    }

    fn lost(&self) -> Error {
        self.claim.lose();
        let failure = Failure::LeaseLost { retry_after: self.claim.lease().length() };
        self.observed.refuse(failure)
    }

    /// The error of a call whose body's task is gone: its end was counted as the task was dropped.
    pub(crate) fn cut_short(&self) -> impl FnOnce() -> Error + Send + 'static {
        let claim = Arc::clone(&self.claim);
        move || {
            let failure = Failure::LeaseLost { retry_after: claim.lease().length() };
            Error::new(Some(claim.request().operation.shared_name()), failure)
        }
    }

    /// Gives the claim up after an error of the body: at once if the store answers, else through the keeper.
    fn give_up(&mut self, given_up: GivenUp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            let request = self.claim.give_up(given_up);
            self.left_to_send = Some(Errand::Release(request.clone()));
            let sent = self.engine.try_release(&request, self.claim.instruments());
            let reply = self.observed.inside(sent).await;
            if reply.is_ok() {
                self.left_to_send = None;
            }
            if given_up == GivenUp::Held {
                self.held(matches!(reply, Ok(ReleaseReply::Uncertain)));
            }
            self.seen(false, false);
            self.observed.end(if given_up == GivenUp::Held { "held" } else { "failed" });
        })
    }

    /// Tells that the outcome is unknown.
    fn held(&self, is_recorded: bool) {
        self.claim.instruments().add_one(metrics::UNCERTAIN);
        let and = if is_recorded {
            "nothing runs under this key until it is settled"
        } else {
            "that is not recorded yet, and until then a repeat may run it again"
        };
        tracing::error!(
            parent: self.observed.span(),
            operation = self.claim.operation(),
            fence = self.claim.grant().fence.get(),
            "the outcome is unknown: {and}"
        );
    }
}

/// Keeps what a future does out of who awaits it, which is compiled for each body anew.
#[inline(never)]
fn poll_apart<F: Future>(future: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<F::Output> {
    future.poll(cx)
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(errand) = self.left_to_send.take() {
            let until = self.claim.lease().sure_until();
            self.keeper.send(errand, Arc::clone(self.claim.instruments()), until, self.visit.clone());
        }
    }
}

//! One request, sent again and again until it is answered or its time is up.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Instant;
use crate::engine::Engine;
use crate::error::Failure;
use crate::instruments::{Instruments, StoreTimes};
use crate::keeper::Errand;
use crate::metrics;
use crate::start::Turn;
use crate::store::{
    Claim, ClaimReply, Complete, CompleteReply, GivenUp, Release, ReleaseReply, StoreError, StoreErrorKind,
};

impl Engine {
    /// Asks for a claim, again under the same token while the answer is missing and the bound is not over: the claim then
    /// recognises itself.
    ///
    /// A claim that stays unanswered, also because the caller is gone, is released: nothing can have run under it.
    pub(crate) async fn ask(&self, turn: &Turn<'_>, claim: &Claim) -> Result<ClaimReply, Failure> {
        let mut unanswered = Unanswered { turn, claim, may_hold: true };
        let instruments = turn.observed.instruments();
        let until = Instant::now() + self.store_bound();
        let mut pause = FIRST_PAUSE;
        let mut ambiguous = None;
        let answer = loop {
            // Half of what is left, so that there is time to ask again, on another connection.
            let left = until.saturating_duration_since(Instant::now());
            match self.bounded(instruments.store(), "claim", left / 2, self.store().claim(claim)).await {
                Ok(reply) => break Ok(reply),
                Err(error) if ambiguous.is_none() && error.kind() == StoreErrorKind::Unavailable => break Err(error),
                // Once an answer is missing, only a reply tells what became of that request.
                Err(error) => {
                    let first = ambiguous.take().unwrap_or(error);
                    if !wait(&mut pause, until).await {
                        break Err(first);
                    }
                    ambiguous = Some(first);
                }
            }
        };
        unanswered.may_hold = match &answer {
            Err(error) => error.kind() == StoreErrorKind::Ambiguous,
            // It may be this very claim, unanswered and then met by another call, that became uncertain.
            Ok(ClaimReply::Uncertain { .. }) => ambiguous.is_some(),
            Ok(_) => false,
        };
        answer.map_err(|error| {
            instruments.store_error("claim", &error);
            Failure::Store(error)
        })
    }

    /// Sends a completion, again and again until `until` and once more after it if there is no clear answer: the same
    /// completion recognises itself.
    pub(crate) async fn complete(
        &self,
        request: &mut Complete,
        instruments: &Instruments,
        until: Instant,
    ) -> Result<CompleteReply, StoreError> {
        let until = until.min(Instant::now() + LONGEST_RETRY);
        let (mut pause, mut may_restore) = (FIRST_PAUSE, true);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            request.restore = may_restore && !left.is_zero();
            // What may be written again only under a live lease must not arrive after it.
            let bound = if request.restore { left } else { self.store_bound() };
            match self.bounded(instruments.store(), "complete", bound, self.store().complete(request)).await {
                Err(_) if wait(&mut pause, until).await => {}
                // What was left was too little for an answer. Nobody need have followed: once more, in the store's own time.
                Err(_) if request.restore => may_restore = false,
                answer => return answer.inspect_err(|error| instruments.store_error("complete", error)),
            }
        }
    }

    /// Sends a release, again and again until `until` if there is no clear answer.
    pub(crate) async fn release(&self, request: &Release, instruments: &Instruments, until: Instant) {
        let until = until.min(Instant::now() + LONGEST_RETRY);
        let mut pause = FIRST_PAUSE;
        while let Err(error) = self.try_release(request, instruments).await {
            if !wait(&mut pause, until).await {
                instruments.store_error("release", &error);
                if request.given_up == GivenUp::Held {
                    instruments.add_one(metrics::UNRECORDED);
                    tracing::error!(
                        operation = request.operation.name(),
                        "an outcome is unknown, and that could not be recorded: a repeat may run it again"
                    );
                }
                return;
            }
        }
    }

    /// Sends a release once.
    pub(crate) async fn try_release(
        &self,
        request: &Release,
        instruments: &Instruments,
    ) -> Result<ReleaseReply, StoreError> {
        self.bounded(instruments.store(), "release", self.store_bound(), self.store().release(request)).await
    }

    /// Waits for a store's answer, but no longer than `bound`, nor than the bound on every store call.
    pub(crate) async fn bounded<R>(
        &self,
        times: &StoreTimes,
        verb: &'static str,
        bound: Duration,
        answer: impl Future<Output = Result<R, StoreError>>,
    ) -> Result<R, StoreError> {
        let sent = Instant::now();
        let answer = tokio::time::timeout(bound.min(self.store_bound()), answer).await;
        times.took(verb, sent.elapsed());
        answer.unwrap_or_else(|elapsed| Err(StoreError::Ambiguous(elapsed.into())))
    }
}

/// A claim without an answer, or with one that came too late. Dropped, it is released by its token alone, through the
/// keeper.
pub(crate) struct Unanswered<'a> {
    pub(crate) turn: &'a Turn<'a>,
    pub(crate) claim: &'a Claim,
    /// Whether the claim may have won, for all that is known.
    pub(crate) may_hold: bool,
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        if !self.may_hold {
            return;
        }
        let until = Instant::now() + Duration::from_millis(self.claim.lease);
        let Turn { request, keeper, observed, visit } = *self.turn;
        let errand = Errand::Release(request.retract(self.claim.token));
        keeper.send(errand, Arc::clone(observed.instruments()), until, visit.clone());
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// However long a lease is, a caller does not wait longer for its result to be recorded.
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// Waits before the next try, longer each time. `false`, at once, where there is no time for another try.
async fn wait(pause: &mut Duration, until: Instant) -> bool {
    if Instant::now() + *pause >= until {
        return false;
    }
    tokio::time::sleep(*pause).await;
    *pause = (*pause * 2).min(LONGEST_PAUSE);
    true
}

//! The start of a call: its claim, made in its turn.

use std::sync::Arc;
use std::time::Duration;

use crate::choices::{OnConflict, OnOutage};
use crate::claim::Claimed;
use crate::clock::Instant;
use crate::engine::Engine;
use crate::error::{Error, Failure};
use crate::held::Held;
use crate::instruments::Instruments;
use crate::keeper::Keeper;
use crate::known::Known;
use crate::lease::Lease;
use crate::metrics;
use crate::observed::Observed;
use crate::record::Origin;
use crate::request::Request;
use crate::send::Unanswered;
use crate::store::{Claim, ClaimReply, Grant, Replay};
use crate::visits::Visit;

/// What a call came to, where it was not refused.
pub(crate) enum Started {
    /// The body may run.
    Claimed(Box<Held>),
    /// The result is known.
    Known(Known),
}

/// A call that is about to claim.
pub(crate) struct Turn<'a> {
    pub(crate) request: &'a Request,
    pub(crate) keeper: &'a Keeper,
    pub(crate) observed: &'a Observed,
    pub(crate) visit: &'a Visit,
}

/// What a claim came to, where it was not refused.
enum Won {
    Claim(Claim, Grant, Lease),
    Replay(Replay),
    /// No store, and yet the body is to run.
    Unprotected,
}

impl Engine {
    /// Claims: the one step that every call begins with.
    pub(crate) async fn claim(self, request: Request) -> Result<Started, Error> {
        let observed = Observed::begin(&self, request.operation.shared_name(), Some(&request.operation));
        let Some(visit) = self.enter() else {
            return Err(observed.refuse(Failure::ShutDown));
        };
        let keeper = self.keeper();
        let turn = Turn { request: &request, keeper: &keeper, observed: &observed, visit: &visit };
        let won = match observed.inside(self.take_turn(&turn)).await {
            Ok(won) => won,
            Err(failure) => return Err(observed.refuse(failure)),
        };
        let instruments = Arc::clone(observed.instruments());
        let claimed = match won {
            Won::Claim(claim, grant, lease) => Claimed::new(request, claim, grant, lease, instruments),
            Won::Unprotected => Claimed::unprotected(request, instruments),
            Won::Replay(replay) => return Known::new(self, observed, replay).map(Started::Known),
        };
        Ok(Started::Claimed(Box::new(Held::new(self, keeper, claimed, visit, observed))))
    }

    /// Claims, after waiting for another call's end if the policy says so.
    async fn take_turn(&self, turn: &Turn<'_>) -> Result<Won, Failure> {
        let instruments = turn.observed.instruments();
        let limit = match turn.request.policy.conflict() {
            OnConflict::Wait(limit) => limit,
            OnConflict::Refuse => Duration::ZERO,
        };
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
        let waited = loop {
            let retry_after = match self.win(turn).await {
                Err(Failure::InFlight { retry_after }) => retry_after,
                answer => break answer,
            };
            let left = limit.saturating_sub(began.elapsed());
            if left.is_zero() {
                instruments.add_one(metrics::CONFLICTS);
                break Err(Failure::InFlight { retry_after });
            }
            // Many may wait for one call: apart from each other, and for its lease's end no longer than that lasts.
            let jitter = rand::random_range(0.5..1.0);
            tokio::time::sleep(pause.mul_f64(jitter).min(retry_after + FIRST_PAUSE.mul_f64(jitter)).min(left)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            if self.is_closed() {
                break Err(Failure::ShutDown);
            }
        };
        if pause > FIRST_PAUSE {
            instruments.record(metrics::WAIT_SECONDS, began.elapsed().as_secs_f64());
        }
        match waited {
            Err(Failure::Store(_) | Failure::TooLate) if turn.request.policy.outage() == OnOutage::RunUnprotected => {
                instruments.add_one(metrics::UNPROTECTED);
                tracing::warn!(operation = turn.request.operation.name(), "no store: the body runs unprotected");
                Ok(Won::Unprotected)
            }
            waited => waited,
        }
    }

    /// Claims at most twice, should the first claim be answered too late to begin under its lease.
    async fn win(&self, turn: &Turn<'_>) -> Result<Won, Failure> {
        let instruments = turn.observed.instruments();
        for _ in 0..2 {
            let sent = Instant::now();
            let claim = turn.request.claim();
            match self.ask(turn, &claim).await? {
                ClaimReply::Acquired(grant) => {
                    let lease = Lease::since(sent, claim.lease);
                    if lease.is_worth_starting() {
                        turn.observed.claimed(&grant);
                        count_repeat(turn.request, grant, instruments);
                        return Ok(Won::Claim(claim, grant, lease));
                    }
                    // Given up before the next one is sent, which would else meet this one in flight.
                    let mut late = Unanswered { turn, claim: &claim, may_hold: true };
                    let release = turn.request.retract(claim.token);
                    late.may_hold = Box::pin(self.try_release(&release, instruments)).await.is_err();
                }
                ClaimReply::Stale => {}
                ClaimReply::Replay(replay) => return Ok(Won::Replay(replay)),
                ClaimReply::InFlight { left } => return Err(Failure::InFlight { retry_after: left }),
                ClaimReply::Mismatch => {
                    instruments.add_one(metrics::MISMATCHES);
                    return Err(Failure::Mismatch);
                }
                ClaimReply::Uncertain { fence } => {
                    instruments.add_one(metrics::UNCERTAIN);
                    return Err(Failure::Uncertain { fence });
                }
                ClaimReply::Exhausted { crashed } => {
                    instruments.add_one(metrics::EXHAUSTED);
                    return Err(Failure::Exhausted { crashed });
                }
                ClaimReply::Corrupt(corrupt) => return Err(Failure::Corrupt(corrupt)),
            }
        }
        Err(Failure::TooLate)
    }
}

/// A waiting call asks after pauses that double: two commands each, and on average fewer than 20 a second.
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

fn count_repeat(request: &Request, grant: Grant, instruments: &Instruments) {
    if matches!(grant.origin, Origin::Released | Origin::AfterTakeover) {
        instruments.add_one(metrics::RETRIES);
    }
    let what = match grant.origin {
        Origin::Takeover => "took over from an attempt whose lease ran out; it may have had its effect",
        Origin::Doubt => "an earlier attempt's outcome is unknown; this one asks for it first",
        Origin::First | Origin::Released | Origin::AfterTakeover => return,
    };
    instruments.add_one(metrics::TAKEOVERS);
    tracing::warn!(operation = request.operation.name(), attempt = grant.attempt, fence = grant.fence.get(), "{what}");
}

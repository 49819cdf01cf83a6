//! The start of a call: its claim, made in its turn.

use std::time::Duration;

use crate::claim::Claimed;
use crate::clock::Instant;
use crate::engine::Engine;
use crate::error::{Error, Failure};
use crate::held::Held;
use crate::keeper::Keeper;
use crate::known::Known;
use crate::lease::Lease;
use crate::metrics::{self, Counters};
use crate::policy::{OnConflict, OnOutage};
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
    pub(crate) counters: &'a Counters,
    pub(crate) visit: &'a Visit,
}

/// What a claim came to, where it was not refused.
enum Won {
    Claim(Claim, Grant, Lease),
    Replay(Replay),
}

impl Engine {
    /// Claims: the one step that every call begins with.
    pub(crate) async fn claim(self, request: Request) -> Result<Started, Error> {
        let operation = request.operation.shared_name();
        self.start(request).await.map_err(|failure| Error::refusing(operation, failure))
    }

    async fn start(self, request: Request) -> Result<Started, Failure> {
        let visit = self.enter().ok_or(Failure::ShutDown)?;
        let counters = Counters::of(request.operation.shared_name());
        let keeper = self.keeper();
        let turn = Turn { request: &request, keeper: &keeper, counters: &counters, visit: &visit };
        let claimed = match self.take_turn(&turn).await {
            Ok(Won::Claim(claim, grant, lease)) => Claimed::new(request, claim, grant, lease, counters),
            Ok(Won::Replay(replay)) => {
                return Known::new(self, request.operation.shared_name(), counters, replay).map(Started::Known);
            }
            Err(Failure::Store(_) | Failure::TooLate) if request.policy.outage() == OnOutage::RunUnprotected => {
                counters.add_one(metrics::UNPROTECTED);
                tracing::warn!(operation = request.operation.name(), "no store: the body runs unprotected");
                Claimed::unprotected(request, counters)
            }
            Err(failure) => return Err(failure),
        };
        Ok(Started::Claimed(Box::new(Held::new(self, keeper, claimed, visit))))
    }

    /// Claims, after waiting for another call's end if the policy says so.
    async fn take_turn(&self, turn: &Turn<'_>) -> Result<Won, Failure> {
        let limit = match turn.request.policy.conflict() {
            OnConflict::Wait(limit) => limit,
            OnConflict::Refuse => Duration::ZERO,
        };
        let until = Instant::now() + limit;
        let mut pause = FIRST_PAUSE;
        loop {
            let failure = match self.win(turn).await {
                Err(failure @ Failure::InFlight { .. }) => failure,
                answer => return answer,
            };
            let left = until.saturating_duration_since(Instant::now());
            let Failure::InFlight { retry_after } = failure else { return Err(failure) };
            if left.is_zero() {
                turn.counters.add_one(metrics::CONFLICTS);
                return Err(failure);
            }
            // Many may wait for one call: apart from each other, and for its lease's end no longer than that lasts.
            let jitter = rand::random_range(0.5..1.0);
            tokio::time::sleep(pause.mul_f64(jitter).min(retry_after + FIRST_PAUSE.mul_f64(jitter)).min(left)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            if self.is_closed() {
                return Err(Failure::ShutDown);
            }
        }
    }

    /// Claims at most twice, should the first claim be answered too late to begin under its lease.
    async fn win(&self, turn: &Turn<'_>) -> Result<Won, Failure> {
        let counters = turn.counters;
        for _ in 0..2 {
            let sent = Instant::now();
            let claim = turn.request.claim();
            match self.ask(turn, &claim).await? {
                ClaimReply::Acquired(grant) => {
                    let lease = Lease::since(sent, claim.lease);
                    if lease.is_worth_starting() {
                        count_takeover(turn.request, grant, counters);
                        return Ok(Won::Claim(claim, grant, lease));
                    }
                    // Given up before the next one is sent, which would else meet this one in flight.
                    let mut late = Unanswered { turn, claim: &claim, may_hold: true };
                    let release = turn.request.retract(claim.token);
                    late.may_hold = Box::pin(self.try_release(&release)).await.is_err();
                }
                ClaimReply::Stale => {}
                ClaimReply::Replay(replay) => return Ok(Won::Replay(replay)),
                ClaimReply::InFlight { left } => return Err(Failure::InFlight { retry_after: left }),
                ClaimReply::Mismatch => {
                    counters.add_one(metrics::MISMATCHES);
                    return Err(Failure::Mismatch);
                }
                ClaimReply::Uncertain { fence } => {
                    counters.add_one(metrics::UNCERTAIN);
                    return Err(Failure::Uncertain { fence });
                }
                ClaimReply::Exhausted { crashed } => {
                    counters.add_one(metrics::EXHAUSTED);
                    return Err(Failure::Exhausted { crashed });
                }
                ClaimReply::Corrupt(corrupt) => return Err(Failure::Corrupt(corrupt)),
            }
        }
        Err(Failure::TooLate)
    }
}

/// A waiting call asks after pauses that double: two commands each, and on average under 15 a second.
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

fn count_takeover(request: &Request, grant: Grant, counters: &Counters) {
    let what = match grant.origin {
        Origin::Takeover => "took over from an attempt whose lease ran out; it may have had its effect",
        Origin::Doubt => "an earlier attempt's outcome is unknown; this one asks for it first",
        Origin::First | Origin::Released | Origin::AfterTakeover => return,
    };
    counters.add_one(metrics::TAKEOVERS);
    tracing::warn!(operation = request.operation.name(), attempt = grant.attempt, fence = grant.fence.get(), "{what}");
}

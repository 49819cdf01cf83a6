//! `claim`: win the right to run, or learn why not. In Lua: `claim.lua`.

use std::time::Duration;

use crate::record::{Claimed, Corrupt, Fence, MAX_ATTEMPT, Origin, Record, State};
use crate::store::{Claim, ClaimReply, Grant, OnCrash, Replay};

use super::{Step, Stored, UNCERTAIN_LINGER, uncertain};

/// Decides a claim.
#[must_use]
pub fn claim(stored: Option<Stored<'_>>, request: &Claim) -> Step<ClaimReply> {
    let Some(stored) = stored else {
        return grant(request, request.proposed, 1, Origin::First);
    };
    if let Some(reply) = recognise(stored.record, request) {
        return Step::unchanged(reply);
    }
    follow(stored, request).unwrap_or_else(|corrupt| Step::unchanged(ClaimReply::Corrupt(corrupt)))
}

/// The part of the decision that needs neither a clock nor a write: what the record alone tells. `None` leaves the rest to
/// [`claim`].
///
/// The fingerprint comes before the state: a caller with other arguments must not be told to try again later.
#[must_use]
pub fn recognise(record: &Record, request: &Claim) -> Option<ClaimReply> {
    if record.fingerprint.is_some_and(|bound| bound != request.fingerprint) {
        return Some(ClaimReply::Mismatch);
    }
    match &record.state {
        State::Completed(_) | State::Failed(_) => Replay::of(record).map(ClaimReply::Replay),
        State::InFlight(claimed) if claimed.token == request.token => Grant::of(record).map(ClaimReply::Acquired),
        State::Released(claimed) if claimed.token == request.token => Some(ClaimReply::Stale),
        State::Uncertain(claimed) if claimed.token == request.token || request.on_crash != OnCrash::Recover => {
            Some(ClaimReply::Uncertain { fence: record.fence })
        }
        State::InFlight(_) | State::Released(_) | State::Uncertain(_) => None,
    }
}

/// Claims after another claim, if that one is over.
fn follow(stored: Stored<'_>, request: &Claim) -> Result<Step<ClaimReply>, Corrupt> {
    let record = stored.record;
    if let State::InFlight(claimed) = &record.state {
        let left = stored.lease_left(claimed)?;
        if left > 0 {
            // The holder's lease may be longer than ours, or the server's clock may have stepped: what is told to wait for
            // is never more than a lease of the caller's own.
            let left = Duration::from_millis(left.min(request.lease));
            return Ok(Step::unchanged(ClaimReply::InFlight { left }));
        }
    }
    let origin = match &record.state {
        State::Released(claimed) if claimed.origin != Origin::Takeover => claimed.origin,
        // A takeover that was let go before anything ran leaves its crash to whoever comes next.
        State::InFlight(claimed) | State::Released(claimed) => match after_crash(claimed, request.on_crash) {
            Some(origin) => origin,
            None => return Ok(mark_uncertain(record, claimed, request)),
        },
        State::Uncertain(_) => Origin::Doubt,
        State::Completed(_) | State::Failed(_) => return Err(Corrupt::Unreadable),
    };
    // Where the count of attempts stays, a greater limit would never be met.
    if request.max_attempts.is_some_and(|most| record.attempt >= most.min(MAX_ATTEMPT)) {
        // The latest attempt that ran.
        let failed = matches!(&record.state, State::Released(claimed) if claimed.origin != Origin::Takeover);
        return Ok(Step::unchanged(ClaimReply::Exhausted { crashed: !failed }));
    }
    let fence = record.fence.followed_by(request.proposed)?;
    let attempt = record.attempt.saturating_add(1).min(MAX_ATTEMPT);
    Ok(grant(request, fence, attempt, origin))
}

/// How a claim whose lease ran out is followed; `None` if nothing may run after it.
///
/// A claim that was won to ask for an unknown outcome ended without an answer: nobody runs on that who would not ask.
const fn after_crash(claimed: &Claimed, on_crash: OnCrash) -> Option<Origin> {
    match (on_crash, claimed.origin) {
        (OnCrash::Recover, _) => Some(Origin::Doubt),
        (OnCrash::Refuse, _) | (OnCrash::Rerun, Origin::Doubt) => None,
        (OnCrash::Rerun, _) => Some(Origin::Takeover),
    }
}

fn mark_uncertain(record: &Record, claimed: &Claimed, request: &Claim) -> Step<ClaimReply> {
    let reply = ClaimReply::Uncertain { fence: record.fence };
    Step::put(reply, uncertain(record, claimed), request.linger.max(UNCERTAIN_LINGER))
}

fn grant(request: &Claim, fence: Fence, attempt: u32, origin: Origin) -> Step<ClaimReply> {
    let reply = ClaimReply::Acquired(Grant { fence, attempt, origin });
    Step::put(reply, request.record(fence, attempt, origin), request.linger)
}

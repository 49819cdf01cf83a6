//! `claim`: win the right to run, or learn why not. In Lua: `claim.lua`.

use std::time::Duration;

use crate::record::{Claimed, Corrupt, Fence, MAX_ATTEMPT, Origin, Record, State};
use crate::store::{Claim, ClaimReply, Grant, Replay};

use super::{Step, Stored};

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
    if record.fingerprint != request.fingerprint {
        return Some(ClaimReply::Mismatch);
    }
    match &record.state {
        State::Completed(_) => Replay::of(record).map(ClaimReply::Replay),
        State::InFlight(claimed) if claimed.token == request.token => Grant::of(record).map(ClaimReply::Acquired),
        State::Released(claimed) if claimed.token == request.token => Some(ClaimReply::Stale),
        State::InFlight(_) | State::Released(_) => None,
    }
}

/// Claims after another claim, if that one is over.
fn follow(stored: Stored<'_>, request: &Claim) -> Result<Step<ClaimReply>, Corrupt> {
    let origin = match &stored.record.state {
        State::InFlight(claimed) => match lease_left(stored, claimed)? {
            0 => Origin::Takeover,
            left => {
                // The holder's lease may be longer than ours, or the server's clock may have stepped: what is told to
                // wait for is never more than a lease of the caller's own.
                let left = Duration::from_millis(left.min(request.lease));
                return Ok(Step::unchanged(ClaimReply::InFlight { left }));
            }
        },
        State::Released(claimed) => claimed.origin,
        State::Completed(_) => return Err(Corrupt::Unreadable),
    };
    let fence = stored.record.fence.followed_by(request.proposed)?;
    let attempt = stored.record.attempt.saturating_add(1).min(MAX_ATTEMPT);
    Ok(grant(request, fence, attempt, origin))
}

fn lease_left(stored: Stored<'_>, claimed: &Claimed) -> Result<u64, Corrupt> {
    Ok(stored.left()?.saturating_sub(claimed.floor))
}

fn grant(request: &Claim, fence: Fence, attempt: u32, origin: Origin) -> Step<ClaimReply> {
    let reply = ClaimReply::Acquired(Grant { fence, attempt, origin });
    Step::put(reply, request.record(fence, attempt, origin), request.linger)
}

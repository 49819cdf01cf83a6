//! `renew`: hold on to one's own claim. In Lua: `renew.lua`.

use crate::record::{Claimed, Origin, Record, State};
use crate::store::{Renew, RenewReply};

use super::{Step, Stored, Write};

/// Decides a renewal.
///
/// Renewing changes nothing but the record's life: the lease's end is counted from it. A lease that ran out is renewed as
/// well while nobody followed. An absent record, or one from before this claim, is written again only if the request says
/// it may be: release, takeover and `forget` always leave a record, so no claim that anyone followed comes back to life.
/// What was declared uncertain stays so: that is not the caller's to end.
#[must_use]
pub fn renew(stored: Option<Stored<'_>>, request: &Renew) -> Step<RenewReply> {
    let write_again = |record| Step::put(RenewReply::Reasserted, record, request.linger);
    let Some(stored) = stored else {
        let record = request.restore.then(|| request.record.clone());
        return record.map_or(Step::unchanged(RenewReply::Absent), write_again);
    };
    let record = &request.record;
    let owns = |claimed| request.owner().is_some_and(|owner| owner.holds(stored.record, claimed));
    match &stored.record.state {
        State::InFlight(claimed) if owns(claimed) => {
            Step { reply: RenewReply::Renewed, write: Write::Extend { life: request.linger } }
        }
        State::Uncertain(claimed) if owns(claimed) => Step::unchanged(RenewReply::Uncertain),
        State::InFlight(_) | State::Released(_)
            if request.restore && stored.is_behind(record.fence, record.attempt) =>
        {
            write_again(over(stored.record, record))
        }
        State::InFlight(_) | State::Released(_) | State::Uncertain(_) | State::Completed(_) | State::Failed(_) => {
            Step::unchanged(RenewReply::Lost)
        }
    }
}

/// The record of a claim that is written over an earlier one. The server knows of no answer to that one, and it may be of a
/// claim made after the server went back, by who has crashed since: that is not forgotten.
fn over(earlier: &Record, record: &Record) -> Record {
    let unanswered = match &earlier.state {
        State::Released(earlier) => earlier.origin.follows_takeover(),
        _ => true,
    };
    match &record.state {
        State::InFlight(claimed) if unanswered && !claimed.origin.follows_takeover() => {
            let state = State::InFlight(Claimed { origin: Origin::AfterTakeover, ..*claimed });
            Record { state, ..record.clone() }
        }
        _ => record.clone(),
    }
}

//! `renew`: hold on to one's own claim. In Lua: `renew.lua`.

use crate::record::State;
use crate::store::{Renew, RenewReply};

use super::{Step, Stored, Write};

/// Decides a renewal.
///
/// Renewing changes nothing but the record's life: the lease's end is counted from it. A lease that ran out is renewed as
/// well while nobody followed. An absent record, or one from before this claim, is written again only if the request says
/// it may be: release, takeover and `forget` always leave a record, so no claim that anyone followed comes back to life.
#[must_use]
pub fn renew(stored: Option<Stored<'_>>, request: &Renew) -> Step<RenewReply> {
    let write_again = || Step::put(RenewReply::Reasserted, request.record.clone(), request.linger);
    let Some(stored) = stored else {
        return if request.restore { write_again() } else { Step::unchanged(RenewReply::Absent) };
    };
    let owns = |claimed| request.owner().is_some_and(|owner| owner.holds(stored.record, claimed));
    match &stored.record.state {
        State::InFlight(claimed) if owns(claimed) => {
            Step { reply: RenewReply::Renewed, write: Write::Extend { life: request.linger } }
        }
        State::Uncertain(claimed) if owns(claimed) => Step::unchanged(RenewReply::Uncertain),
        _ if request.restore && stored.is_behind(request.record.fence, request.record.attempt) => write_again(),
        State::InFlight(_) | State::Released(_) | State::Uncertain(_) | State::Completed(_) | State::Failed(_) => {
            Step::unchanged(RenewReply::Lost)
        }
    }
}

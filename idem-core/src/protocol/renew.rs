//! `renew`: hold on to one's own claim. In Lua: `renew.lua`.

use crate::record::State;
use crate::store::{Renew, RenewReply};

use super::{Step, Stored, Write};

/// Decides a renewal.
///
/// Renewing changes nothing but the record's life: the lease's end is counted from it. A lease that ran out is renewed as
/// well while nobody followed. An absent record is written again only if the request says it may be: release, takeover
/// and `forget` always leave a record, so no claim that anyone followed comes back to life.
#[must_use]
pub fn renew(stored: Option<Stored<'_>>, request: &Renew) -> Step<RenewReply> {
    match stored {
        None if request.restore => Step::put(RenewReply::Reasserted, request.record.clone(), request.linger),
        None => Step::unchanged(RenewReply::Absent),
        Some(Stored { record, .. }) => match &record.state {
            State::InFlight(claimed) if request.owner().is_some_and(|owner| owner.holds(record, claimed)) => {
                Step { reply: RenewReply::Renewed, write: Write::Extend { life: request.linger } }
            }
            State::InFlight(_) | State::Released(_) | State::Completed(_) => Step::unchanged(RenewReply::Lost),
        },
    }
}

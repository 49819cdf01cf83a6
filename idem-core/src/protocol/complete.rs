//! `complete`: settle one's own claim with its result. In Lua: `complete.lua`.

use crate::record::State;
use crate::store::{Complete, CompleteReply};

use super::{Step, Stored};

/// Decides a completion.
///
/// A lease that ran out does not matter while nobody followed: the record then still holds this owner, in flight or
/// uncertain by now.
#[must_use]
pub fn complete(stored: Option<Stored<'_>>, request: &Complete) -> Step<CompleteReply> {
    let settle = |reply| Step::put(reply, request.record(), request.retention);
    let Some(stored) = stored else {
        return if request.restore { settle(CompleteReply::Restored) } else { Step::unchanged(CompleteReply::Absent) };
    };
    match &stored.record.state {
        State::InFlight(claimed) | State::Uncertain(claimed) if request.owner.holds(stored.record, claimed) => {
            settle(CompleteReply::Completed)
        }
        // To the byte: a fence is unique only while its record is there, and this one may have been lost and made anew.
        State::Completed(_) | State::Failed(_) if *stored.record == request.record() => {
            Step::unchanged(CompleteReply::Already)
        }
        _ if request.restore && stored.is_behind(request.owner.fence, request.attempt) => {
            settle(CompleteReply::Restored)
        }
        State::InFlight(_) | State::Released(_) | State::Uncertain(_) | State::Completed(_) | State::Failed(_) => {
            Step::unchanged(CompleteReply::Lost)
        }
    }
}

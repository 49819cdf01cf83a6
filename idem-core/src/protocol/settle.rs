//! `settle`: say how an attempt ended whose outcome nobody knew. In Lua: `settle.lua`.

use crate::record::{Claimed, Origin, Record, State};
use crate::store::{Settle, SettleReply, Settlement};

use super::{Step, Stored};

/// Decides a settlement.
///
/// An attempt whose lease is over is as unknown as one that was declared uncertain, whether anyone has met it or not. The
/// fence tells whether it is the attempt that was looked at.
#[must_use]
pub fn settle(stored: Option<Stored<'_>>, request: &Settle) -> Step<SettleReply> {
    let Some(stored) = stored else { return Step::unchanged(SettleReply::Absent) };
    let record = stored.record;
    if record.fence != request.fence {
        return Step::unchanged(SettleReply::Changed);
    }
    match &record.state {
        State::InFlight(claimed) => match stored.lease_left(claimed) {
            Ok(0) => settled(record, claimed, request),
            Ok(_) => Step::unchanged(SettleReply::Live),
            Err(corrupt) => Step::unchanged(SettleReply::Corrupt(corrupt)),
        },
        State::Uncertain(claimed) => settled(record, claimed, request),
        // An earlier request may be what settled it.
        State::Released(_) if request.settlement == Settlement::RunAgain => Step::unchanged(SettleReply::Settled),
        state if request.settlement.state().is_some_and(|settled| settled == *state) => {
            Step::unchanged(SettleReply::Settled)
        }
        State::Released(_) | State::Completed(_) | State::Failed(_) => Step::unchanged(SettleReply::Changed),
    }
}

fn settled(record: &Record, claimed: &Claimed, request: &Settle) -> Step<SettleReply> {
    let state = request.settlement.state().unwrap_or_else(|| freed(claimed));
    Step::put(SettleReply::Settled, Record { state, ..record.clone() }, request.retention)
}

/// Free to be claimed again; that an attempt ended without an answer is not forgotten.
pub(super) fn freed(claimed: &Claimed) -> State {
    State::Released(Claimed { origin: Origin::AfterTakeover, ..*claimed })
}

//! `forget`: free an identity for another run. In Lua: `forget.lua`.

use crate::record::{Claimed, Record, State};
use crate::store::{Forget, ForgetReply};

use super::settle::freed;
use super::{Step, Stored, Write};

/// Decides a forgetting.
///
/// Only a settled record goes. An unsettled one stays as a released one, so that attempt and fence go on rising and what
/// its owner still sends is refused.
#[must_use]
pub fn forget(stored: Option<Stored<'_>>, request: &Forget) -> Step<ForgetReply> {
    let Some(stored) = stored else { return Step::unchanged(ForgetReply::Absent) };
    let record = stored.record;
    if record.fence != request.fence {
        return Step::unchanged(ForgetReply::Changed);
    }
    match &record.state {
        State::InFlight(claimed) if !request.force => match stored.lease_left(claimed) {
            Ok(0) => released(record, claimed, request),
            Ok(_) => Step::unchanged(ForgetReply::Live),
            Err(corrupt) => Step::unchanged(ForgetReply::Corrupt(corrupt)),
        },
        State::InFlight(claimed) | State::Uncertain(claimed) => released(record, claimed, request),
        State::Released(_) => Step::unchanged(ForgetReply::Released),
        State::Completed(_) | State::Failed(_) => Step { reply: ForgetReply::Deleted, write: Write::Delete },
    }
}

fn released(record: &Record, claimed: &Claimed, request: &Forget) -> Step<ForgetReply> {
    Step::put(ForgetReply::Released, Record { state: freed(claimed), ..record.clone() }, request.retention)
}

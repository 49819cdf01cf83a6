//! `release`: give one's own claim up, unfinished. In Lua: `release.lua`.

use crate::record::{Claimed, Origin, Record, State};
use crate::store::{GivenUp, Release, ReleaseReply};

use super::{Step, Stored, UNCERTAIN_LINGER, Write, uncertain};

/// Decides a release.
///
/// The record stays and keeps the token: a late message of the released claim must not win again, and whoever claims next
/// gets a greater fence. Like its completion, the late release of a claim that was declared uncertain by now counts.
#[must_use]
pub fn release(stored: Option<Stored<'_>>, request: &Release) -> Step<ReleaseReply> {
    let Some(Stored { record, .. }) = stored else { return Step::unchanged(ReleaseReply::Unchanged) };
    match &record.state {
        State::InFlight(claimed) | State::Uncertain(claimed) if request.is_of(record, claimed) => {
            give_up(record, claimed, request)
        }
        _ => Step::unchanged(ReleaseReply::Unchanged),
    }
}

fn give_up(record: &Record, claimed: &Claimed, request: &Release) -> Step<ReleaseReply> {
    // A claim that was never answered has run nothing: what it was won to ask for is as unknown as before.
    let ran = request.fence.is_some();
    // Nor does it answer for the attempt that it took over, once somebody was told that nobody knows.
    let declared = matches!(record.state, State::Uncertain(_)) && claimed.origin == Origin::Takeover;
    let unasked = !ran && (claimed.origin.is_doubt() || declared);
    if unasked || ran && request.given_up == GivenUp::Held {
        let life = request.retention.max(UNCERTAIN_LINGER);
        return Step::put(ReleaseReply::Uncertain, uncertain(record, claimed), life);
    }
    // What an earlier attempt may have done, it did with these arguments.
    let opens = ran && request.given_up == GivenUp::Rejected && !claimed.origin.follows_takeover();
    let record = Record {
        fingerprint: record.fingerprint.filter(|_| !opens),
        state: State::Released(Claimed { origin: claimed.origin.after_release(ran), ..*claimed }),
        ..record.clone()
    };
    Step::put(ReleaseReply::Released, record, request.retention)
}

/// Decides a release whose record the server has no memory for; `None` where it is refused, for the caller to send again.
///
/// No record at all frees the identity as well, only the attempts start again. Where there is more to remember the lease
/// ends now instead, and the next claim meets a crash: no less than what it must know. An outcome that is left unknown is
/// neither free nor crashed.
#[must_use]
pub fn release_without_memory(stored: Option<Stored<'_>>, request: &Release) -> Option<Step<ReleaseReply>> {
    let step = release(stored, request);
    let (Write::Put { .. }, Some(Stored { record, .. })) = (&step.write, stored) else { return Some(step) };
    match (step.reply, &record.state) {
        (ReleaseReply::Released, State::InFlight(claimed) | State::Uncertain(claimed))
            if !claimed.origin.follows_takeover() =>
        {
            Some(Step { write: Write::Delete, ..step })
        }
        (ReleaseReply::Released, State::InFlight(claimed)) => {
            let reply = if claimed.origin.is_doubt() { ReleaseReply::Uncertain } else { ReleaseReply::Released };
            Some(Step { reply, write: Write::Extend { life: claimed.floor } })
        }
        _ => None,
    }
}

//! The invariants: what no step and no state may show.

use super::server::{ORIGINS, Reply};
use super::state::{Kind, Phase, Rec, Request, State, TICK, Verb, World};

pub(crate) type Verdict = Result<(), &'static str>;

fn need(holds: bool, otherwise: &'static str) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise) }
}

fn follows_takeover(origin: u8) -> bool {
    ORIGINS[usize::from(origin)].follows_takeover()
}

/// Judges what the server did with `request`, from the record `before` to the one in `state`, and remembers it.
pub(crate) fn served(world: &World, before: Rec, request: Request, reply: Reply, state: &mut State) -> Verdict {
    let after = state.record;
    need(before.kind != Kind::Completed || before == after, "a settled record changed")?;
    need(reply != Reply::Corrupt, "a record cannot be read")?;
    match request.verb {
        Verb::Claim => claimed(world, before, request.from, reply, state),
        Verb::Renew => renewed(before, request.from, reply, state),
        Verb::Complete => completed(before, request.from, reply, state),
        Verb::Release | Verb::Retract => released(before, request, reply, state),
        Verb::None => Ok(()),
    }
}

fn claimed(world: &World, before: Rec, from: u8, reply: Reply, state: &mut State) -> Verdict {
    let fingerprint = |worker: u8| world.fingerprints[usize::from(worker)];
    match reply {
        Reply::Acquired { fence, attempt, origin } if state.record != before => {
            granted(before, from, fingerprint(from), (fence, attempt, origin), state)
        }
        Reply::Acquired { fence, .. } => {
            need(before.kind == Kind::InFlight && before.owner == from, "granted what another holds")?;
            need(fence == before.fence, "told another fence than the record's")
        }
        Reply::InFlight { left } => {
            need(before.owner != from, "refused because of its own claim")?;
            need(left <= world.lease_millis(), "told to wait for longer than a lease")
        }
        Reply::Replay { of, fence } => {
            need(fingerprint(of) == fingerprint(from), "got the result of other arguments")?;
            need(state.past.result == of + 1 && fence == before.fence, "got a result that is not the recorded one")?;
            need(state.past.began & (1 << of) != 0, "got a result that no body made")
        }
        Reply::Mismatch => need(before.fingerprint != fingerprint(from), "a mismatch with the same arguments"),
        _ => Ok(()),
    }
}

fn granted(before: Rec, to: u8, fingerprint: u8, (fence, attempt, origin): (u8, u8, u8), state: &mut State) -> Verdict {
    let past = &mut state.past;
    need(past.result == 0, "granted although a completion is recorded")?;
    if past.lost_nothing() {
        need(fence > past.fence, "a fence does not rise")?;
        need(attempt > past.attempt, "an attempt does not rise")?;
    }
    if before.kind != Kind::None {
        need(fingerprint == before.fingerprint, "claimed again with other arguments")?;
        need(before.kind != Kind::Released || before.owner != to, "a late claim undoes its own release")?;
    }
    past.owed |= before.kind == Kind::InFlight && past.began & (1 << before.owner) != 0;
    need(!past.owed || follows_takeover(origin), "a takeover is forgotten before anything completed")?;
    (past.fence, past.attempt, past.last) = (past.fence.max(fence), past.attempt.max(attempt), to);
    Ok(())
}

/// Whoever is told that it still holds its claim was never followed.
fn unfollowed(from: u8, state: &State) -> Verdict {
    let holds = !state.past.lost_nothing() || state.past.fence <= state.worker(from).fence;
    need(holds, "told to hold still what another has followed")
}

/// What is written again must have been lost, and nobody may have come after it.
fn restored(from: u8, state: &State) -> Verdict {
    need(!state.past.lost_nothing(), "written again although nothing was lost")?;
    need(
        state.past.vanished || state.past.last == from,
        "written again after another claim, and only an expiry between",
    )
}

/// Whoever is told that its claim is over has been followed, or has ended it.
fn over(before: Rec, from: u8, state: &State) -> Verdict {
    let holds = before.kind == Kind::InFlight && state.past.fence == state.worker(from).fence;
    need(!holds || !state.past.lost_nothing(), "told to have lost what it holds")
}

fn renewed(before: Rec, from: u8, reply: Reply, state: &State) -> Verdict {
    match reply {
        Reply::Renewed => {
            need(before.kind == Kind::InFlight, "a renewal revives what has ended")?;
            unfollowed(from, state)
        }
        Reply::Reasserted => restored(from, state),
        _ => over(before, from, state),
    }
}

fn completed(before: Rec, from: u8, reply: Reply, state: &mut State) -> Verdict {
    match reply {
        Reply::Completed => unfollowed(from, state)?,
        Reply::Restored => restored(from, state)?,
        Reply::Already => return need(state.past.result == from + 1, "told to be recorded, and is not"),
        _ => {
            need(state.past.result != from + 1, "its own recorded completion is called lost")?;
            return over(before, from, state);
        }
    }
    need(state.past.began & (1 << from) != 0, "a result that no body made is recorded")?;
    let kept = state.record.kind == Kind::Completed && state.record.owner == from;
    need(kept, "told to be recorded, and is not")?;
    state.past.result = from + 1;
    state.past.owed = false;
    Ok(())
}

fn released(before: Rec, request: Request, reply: Reply, state: &mut State) -> Verdict {
    if reply != Reply::Released {
        return Ok(());
    }
    let bit = 1 << request.from;
    need(before.owner == request.from, "the claim of another is released")?;
    if request.verb == Verb::Retract {
        return need(state.past.began & bit == 0, "an attempt that began is released as if nothing had run");
    }
    unfollowed(request.from, state)?;
    state.past.released |= bit;
    Ok(())
}

/// Judges that the body of `worker` begins, and remembers it.
pub(crate) fn begins(worker: u8, state: &mut State) -> Verdict {
    let mine = *state.worker(worker);
    let past = state.past;
    need(mine.sure > 0, "a body begins on a lease that is over")?;
    if past.lost_nothing() {
        let record = state.record;
        let holds = record.kind == Kind::InFlight && record.owner == worker && record.fence == mine.fence;
        need(holds && record.lease_left() > 0, "a body begins on a lease that is not its own")?;
        need(past.result == 0, "a body begins although a completion is recorded")?;
        let rival = |other: u8| other != worker && state.worker(other).phase == Phase::Body;
        need(!(0..3).any(|other| rival(other) && state.worker(other).sure > 0), "two bodies run as sure owners")?;
        let unexplained = past.began & !past.released & !(1 << worker);
        need(unexplained == 0 || follows_takeover(mine.origin), "a second execution that nothing explains")?;
        need(past.began == 0 || mine.attempt > 1, "a second execution as the first attempt")?;
    }
    if !past.vanished {
        need(mine.fence > past.began_under, "a body begins under a fence that does not rise")?;
    }
    state.past.began |= 1 << worker;
    state.past.began_under = past.began_under.max(mine.fence);
    Ok(())
}

/// Judges a state as it stands.
pub(crate) fn standing(world: &World, state: &State) -> Verdict {
    let record = state.record;
    let blocks = record.kind == Kind::InFlight && record.lease_left() > world.lease_millis() + 2;
    need(!blocks, "a claim blocks for longer than a lease")?;
    if !state.past.lost_nothing() {
        return Ok(());
    }
    let mut owners = 0;
    for (number, worker) in (0_u8..).zip(&state.workers) {
        if worker.relies() {
            owners += 1;
            let holds = record.kind == Kind::InFlight && record.owner == number && record.fence == worker.fence;
            let sure = u64::from(worker.sure) * TICK;
            need(holds && record.lease_left() >= sure, "a worker is surer of its lease than the server")?;
        }
    }
    need(owners <= 1, "two workers are sure of their leases")
}

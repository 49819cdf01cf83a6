//! The invariants: what no step and no state may show.

use super::doubt;
use super::network::{COMPLETED, HELD, REJECTED, Request, Verb};
use super::past::Loss;
use super::people;
use super::replies::{Reply, TAKEOVER};
use super::state::{Kind, OPEN, Phase, Rec, State};
use super::world::{TICK, World};

pub(crate) type Verdict = Result<(), &'static str>;

pub(crate) fn need(holds: bool, otherwise: &'static str) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise) }
}

/// Judges what the server did with `request`, from the record `before` to the one in `state`, and remembers it.
pub(crate) fn served(world: &World, before: Rec, request: Request, reply: Reply, state: &mut State) -> Verdict {
    let after = state.record;
    need(reply != Reply::Corrupt, "a record cannot be read")?;
    let by_hand = request.verb == Verb::Forget;
    need(!before.kind.is_settled() || before == after || by_hand, "a settled record changed")?;
    // Through every loss: who writes over a record knows what is in it.
    let rises = after.fence >= before.fence && after.attempt >= before.attempt;
    need(rises || after.kind == Kind::None, "a record is replaced by an earlier one")?;
    match request.verb {
        Verb::Claim => claimed(world, before, request.from, reply, state),
        Verb::Renew => renewed(before, request.from, reply, state),
        Verb::Complete => completed(before, request, reply, state),
        Verb::Release | Verb::Retract => released(before, request, reply, state),
        Verb::Settle => people::settled(before, request, reply, state),
        Verb::Forget => people::forgotten(before, request, reply, state),
        Verb::None => Ok(()),
    }
}

fn claimed(world: &World, before: Rec, from: u8, reply: Reply, state: &mut State) -> Verdict {
    let wrote = state.record != before;
    match reply {
        Reply::Acquired { fence, attempt, origin } if wrote => {
            doubt::granted(world.policy(from), origin, &mut state.past)?;
            granted(world, before, from, (fence, attempt), state)
        }
        Reply::Acquired { fence, .. } => {
            need(before.kind == Kind::InFlight && before.owner == from, "granted what another holds")?;
            need(fence == before.fence, "told another fence than the record's")
        }
        Reply::Uncertain => {
            need(before.lease_left() == 0, "a live attempt is declared uncertain")?;
            if wrote {
                doubt::question(&mut state.past);
            }
            Ok(())
        }
        _ if wrote => Err("a refused claim changes the record"),
        Reply::InFlight { left } => {
            need(before.owner != from, "refused because of its own claim")?;
            need(left <= world.lease_millis(), "told to wait for longer than a lease")
        }
        Reply::Replay { of, fence, ending } => {
            let other_arguments = of < 3 && world.fingerprint(of) != world.fingerprint(from);
            need(!other_arguments, "got the result of other arguments")?;
            let recorded = state.past.result == of + 1 && fence == before.fence;
            need(recorded && (ending == COMPLETED) == (before.kind == Kind::Completed), "got another result")?;
            let made = of >= 3 || (state.past.began | state.past.found) & (1 << of) != 0;
            need(made, "got a result that no body made")
        }
        Reply::Mismatch => {
            let other = before.fingerprint != world.fingerprint(from) && before.fingerprint != OPEN;
            need(other, "a mismatch with the same arguments")
        }
        Reply::Exhausted { crashed } => {
            need(crashed || state.past.undecided() == 0, "an unknown outcome is called a failure")
        }
        _ => Ok(()),
    }
}

fn granted(world: &World, before: Rec, to: u8, (fence, attempt): (u8, u8), state: &mut State) -> Verdict {
    let past = &mut state.past;
    need(past.result == 0, "granted although a completion is recorded")?;
    if past.lost_nothing() {
        need(fence > past.fence, "a fence does not rise")?;
        need(attempt > past.attempt, "an attempt does not rise")?;
    }
    if before.kind != Kind::None {
        let bound = before.fingerprint == world.fingerprint(to) || before.fingerprint == OPEN;
        need(bound, "claimed again with other arguments")?;
        need(past.let_go != to + 1, "a late claim undoes its own release")?;
    }
    let limit = world.limit(to);
    need(limit == 0 || attempt <= limit, "one attempt more than the limit")?;
    (past.fence, past.attempt, past.last) = (past.fence.max(fence), past.attempt.max(attempt), to + 1);
    past.granted |= 1 << to;
    past.let_go = 0;
    Ok(())
}

/// Whoever is told that it still holds its claim was never followed.
fn unfollowed(from: u8, state: &State) -> Verdict {
    let holds = !state.past.lost_nothing() || state.past.fence <= state.worker(from).fence;
    need(holds, "told to hold still what another has followed")
}

/// What is written again must have been lost, and nobody may have come after it. After a loss that can only hold for those
/// who know of that claim: who claims afresh then, under a lower fence as clocks differ or as a message came late, may be
/// written over, once its lease is over or it gave up. That it may have had its effect is not forgotten even so.
fn restored(before: Rec, from: u8, state: &State) -> Verdict {
    let past = &state.past;
    need(!past.lost_nothing(), "written again although nothing was lost")?;
    // Nor where a person deleted a result, or a release its record: nothing is left then to tell a message of before from
    // one of after.
    let excused = [Loss::Vanished, Loss::Forgotten, Loss::Shed].into_iter().any(|loss| past.has_seen(loss));
    need(excused || past.last == from + 1, "written again after another claim, and no loss between")?;
    let mine = state.worker(from);
    let is_earlier = before.kind == Kind::None || before.attempt < mine.attempt && before.fence < mine.fence;
    need(is_earlier, "written over a claim that may have followed")?;
    need(before.lease_left() == 0, "written over a live claim")
}

/// Whoever is told that its claim is over has been followed, or has ended it.
fn over(before: Rec, from: u8, state: &State) -> Verdict {
    let unsettled = matches!(before.kind, Kind::InFlight | Kind::Uncertain);
    let holds = unsettled && state.past.fence == state.worker(from).fence;
    need(!holds || !state.past.lost_nothing(), "told to have lost what it holds")
}

fn renewed(before: Rec, from: u8, reply: Reply, state: &mut State) -> Verdict {
    match reply {
        Reply::Renewed => {
            need(before.kind == Kind::InFlight, "a renewal revives what has ended")?;
            unfollowed(from, state)
        }
        Reply::Reasserted => {
            restored(before, from, state)?;
            // Its claim is known again.
            state.past.gone &= !(1 << from);
            state.past.last = from + 1;
            Ok(())
        }
        Reply::Uncertain => unfollowed(from, state),
        _ => over(before, from, state),
    }
}

fn completed(before: Rec, request: Request, reply: Reply, state: &mut State) -> Verdict {
    let from = request.from;
    match reply {
        Reply::Completed => unfollowed(from, state)?,
        Reply::Restored => restored(before, from, state)?,
        Reply::Already => return need(state.past.result == from + 1, "told to be recorded, and is not"),
        _ => {
            need(state.past.result != from + 1, "its own recorded completion is called lost")?;
            return over(before, from, state);
        }
    }
    let bit = 1 << from;
    need((state.past.began | state.past.found) & bit != 0, "a result that no body made is recorded")?;
    let kind = if request.choice == COMPLETED { Kind::Completed } else { Kind::Failed };
    let kept = state.record.kind == kind && state.record.owner == from;
    need(kept, "told to be recorded, and is not")?;
    state.past.result = from + 1;
    state.past.spoke |= bit;
    Ok(())
}

fn released(before: Rec, request: Request, reply: Reply, state: &mut State) -> Verdict {
    let (bit, ran) = (1 << request.from, request.verb == Verb::Release);
    let owned = before.owner == request.from && matches!(before.kind, Kind::InFlight | Kind::Uncertain);
    if reply == Reply::Unchanged {
        let heard = !owned || ran && before.fence != state.worker(request.from).fence;
        return need(heard, "the word of an owner is not heard");
    }
    need(owned, "the claim of another is released")?;
    let past = &mut state.past;
    need(ran || past.began & bit == 0, "an attempt that began is released as if nothing had run")?;
    need(request.choice != HELD || reply == Reply::Uncertain, "an outcome that nobody knows is called a failure")?;
    if ran && request.choice == HELD {
        past.questioned |= bit;
    } else if ran {
        past.spoke |= bit;
    }
    match state.record.kind {
        Kind::Released => past.let_go = request.from + 1,
        // The attempt starts again and the fence rises by the clock only.
        Kind::None => past.lose(Loss::Shed),
        _ => {}
    }
    let opens = state.record.fingerprint == OPEN && state.record.kind != Kind::None;
    need(!opens || request.choice == REJECTED, "bound to no arguments any more")?;
    need(!opens || past.open() == 0, "what may have been done is bound to no arguments any more")?;
    let must_open = request.choice == REJECTED && past.open() == 0 && before.origin < TAKEOVER;
    need(!must_open || opens || state.record.kind != Kind::Released, "nothing was done, and yet it is bound")?;
    if ran { unfollowed(request.from, state) } else { Ok(()) }
}

/// Judges that the body of `worker` begins, and remembers it.
pub(crate) fn begins(world: &World, worker: u8, state: &mut State) -> Verdict {
    let mine = *state.worker(worker);
    let past = state.past;
    need(mine.sure > 0, "a body begins on a lease that is over")?;
    if past.keeps_owners() {
        let record = state.record;
        let holds = record.kind == Kind::InFlight && record.owner == worker && record.fence == mine.fence;
        need(holds && record.lease_left() > 0, "a body begins on a lease that is not its own")?;
        need(past.result == 0, "a body begins although a completion is recorded")?;
        let rival = |other: u8| other != worker && state.worker(other).phase == Phase::Body;
        need(!(0..3).any(|other| rival(other) && state.worker(other).sure > 0), "two bodies run as sure owners")?;
        need(past.began == 0 || mine.attempt > 1, "a second execution as the first attempt")?;
    }
    if past.remembers_fences() {
        need(mine.fence > past.began_under, "a body begins under a fence that does not rise")?;
    }
    state.past.began_under = past.began_under.max(mine.fence);
    doubt::begins(worker, world.policy(worker), mine.origin, mine.asked, &mut state.past)
}

/// Judges a state as it stands.
pub(crate) fn standing(world: &World, state: &State) -> Verdict {
    let record = state.record;
    need(record.lease_left() <= world.lease_millis() + 2, "a claim blocks for longer than a lease")?;
    let open = record.fingerprint == OPEN;
    need(!open || record.kind == Kind::Released, "claimed without being bound to arguments")?;
    doubt::standing(state)?;
    if !state.past.keeps_owners() {
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

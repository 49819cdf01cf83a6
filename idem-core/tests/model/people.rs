//! What people may do to a record: only to the attempt that they looked at, and nothing to one that runs, unless forced.

use super::doubt;
use super::network::{ENDED, FORCED, Request};
use super::past::Loss;
use super::replies::Reply;
use super::server::PERSON;
use super::state::{Kind, Rec, State};
use super::watch::{Verdict, need};

/// A settlement was served.
pub(super) fn settled(before: Rec, request: Request, reply: Reply, state: &mut State) -> Verdict {
    let after = state.record;
    if after == before {
        let done = match request.choice {
            ENDED => state.past.result == PERSON + 1,
            _ => before.kind == Kind::Released,
        };
        return need(reply != Reply::Settled || done, "told to be settled, and is not");
    }
    need(reply == Reply::Settled, "a refused settlement changes the record")?;
    seen(before, request, state)?;
    need(before.lease_left() == 0, "an attempt that runs is settled")?;
    if request.choice == ENDED {
        need(after.kind == Kind::Completed && after.owner == PERSON, "told to be settled, and is not")?;
        state.past.result = PERSON + 1;
    } else {
        free(before, state)?;
    }
    Ok(())
}

/// A forgetting was served.
pub(super) fn forgotten(before: Rec, request: Request, reply: Reply, state: &mut State) -> Verdict {
    let after = state.record;
    if after == before {
        let done = reply != Reply::Released || before.kind == Kind::Released;
        return need(done && reply != Reply::Deleted, "told to be forgotten, and is not");
    }
    seen(before, request, state)?;
    if before.kind.is_settled() {
        need(reply == Reply::Deleted && after.kind == Kind::None, "a result is half forgotten")?;
        // From here the fence rises by the clock only, and a copy of the completion that is still on its way while its
        // owner is sure of its lease brings the result back.
        state.past.lose(Loss::Forgotten);
        return Ok(());
    }
    need(reply == Reply::Released, "a refused forgetting changes the record")?;
    if before.lease_left() > 0 {
        need(request.choice == FORCED, "a claim that is held is freed")?;
        state.past.note(Loss::Forced);
    }
    free(before, state)
}

/// What changes is what the person saw: by the owner, where the protocol goes by the fence.
fn seen(before: Rec, request: Request, state: &State) -> Verdict {
    let same = before.owner == request.from || before.owner == PERSON;
    need(same || !state.past.lost_nothing(), "another attempt than the one that was looked at")
}

/// A person decided that the identity is free.
fn free(before: Rec, state: &mut State) -> Verdict {
    need(state.record.kind == Kind::Released, "an unsettled record is forgotten altogether")?;
    state.past.let_go = before.owner + 1;
    doubt::decide(&mut state.past);
    Ok(())
}

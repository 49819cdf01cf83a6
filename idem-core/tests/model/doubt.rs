//! Doubt is never lost: an attempt that may have had its effect and was never answered for is known to whoever comes after,
//! until somebody answered for it, or decided to go on all the same, or the identity is completed.
//!
//! These invariants hold through every loss for the attempts that the server can still know of. One that vanished with its
//! record, or with its claim in a failover, is forgotten: that is what `vanished` is counted for, by its owner, if it is
//! alive to see it.

use idem_core::store::OnCrash;

use super::past::Past;
use super::replies::ORIGINS;
use super::state::{Kind, State};
use super::watch::{Verdict, need};

fn follows_takeover(origin: u8) -> bool {
    ORIGINS[usize::from(origin)].follows_takeover()
}

/// A claim was granted, for the asking or for a run.
pub(crate) fn granted(policy: OnCrash, origin: u8, past: &mut Past) -> Verdict {
    need(past.open() == 0 || follows_takeover(origin), "an attempt without an answer is forgotten")?;
    if ORIGINS[usize::from(origin)].is_doubt() {
        need(policy == OnCrash::Recover, "who would not ask is let in to ask")?;
        question(past);
    }
    Ok(())
}

/// Nothing may run any more until somebody has decided about the attempts of unknown outcome.
pub(crate) fn question(past: &mut Past) {
    past.questioned |= past.undecided();
}

/// Somebody decided that the identity is free.
pub(crate) fn decide(past: &mut Past) {
    past.decided |= past.open();
}

/// The body of `worker` begins, after asking or not.
pub(crate) fn begins(worker: u8, policy: OnCrash, origin: u8, asked: bool, past: &mut Past) -> Verdict {
    let mine = 1 << worker;
    past.began |= mine;
    // After a loss, or after its claim was freed by force, it cannot know of who came since, nor be known of.
    let unaware = past.gone & mine != 0 || !past.keeps_owners() && past.last != worker + 1;
    if unaware {
        return Ok(());
    }
    need(past.open() & !mine == 0 || follows_takeover(origin), "a second execution that nothing explains")?;
    let undecided = past.undecided() & !mine;
    if undecided != 0 && !asked {
        match policy {
            OnCrash::Recover => return Err("runs before it asked for an unknown outcome"),
            OnCrash::Rerun => {
                need(undecided & past.questioned == 0, "runs after an outcome that was declared unknown")?;
            }
            _ => return Err("runs over a crash that it was to refuse"),
        }
    }
    past.decided |= undecided;
    Ok(())
}

/// What no state may show: an unfinished record that knows less than there is to know.
pub(crate) fn standing(state: &State) -> Verdict {
    let State { record, past, .. } = state;
    let holder = match record.kind {
        Kind::InFlight | Kind::Uncertain => 1 << record.owner,
        Kind::Released => 0,
        Kind::None | Kind::Completed | Kind::Failed => return Ok(()),
    };
    let known = past.open() & !holder == 0 || follows_takeover(record.origin);
    need(known, "an attempt without an answer is forgotten")?;
    let in_question = past.undecided() & past.questioned;
    need(record.kind != Kind::Released || in_question == 0, "free, though an outcome was declared unknown")
}

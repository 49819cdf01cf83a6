//! No key is stuck: once its lease is over, a record lets a newcomer in, and an uncertain one whoever asks or was sent by a
//! person.

use idem_core::store::OnCrash::{self, Recover, Refuse, Rerun};

use super::network::{RUN_AGAIN, Verb};
use super::replies::Reply;
use super::server::{Question, STRANGER, Server};
use super::state::{Kind, Rec};
use super::watch::{Verdict, need};
use super::world::TICK;

impl Server {
    /// Judges a record by what its lease's end brings.
    pub(crate) fn probe(&mut self, record: Rec) -> Verdict {
        let over = match record.kind {
            Kind::None => return Ok(()),
            Kind::InFlight => Rec { left: u8::try_from(u64::from(record.floor) / TICK).unwrap_or(u8::MAX), ..record },
            _ => record,
        };
        if let Some(known) = self.probed.get(&over) {
            return *known;
        }
        let verdict = self.opens(over);
        self.probed.insert(over, verdict);
        verdict
    }

    fn opens(&mut self, record: Rec) -> Verdict {
        let ended = record.kind.is_settled();
        for policy in [Rerun, Refuse, Recover] {
            let fits = match self.visit(record, Verb::Claim, policy).0 {
                Reply::Replay { .. } => ended,
                Reply::Acquired { .. } => !ended,
                // Only where there is something to settle.
                Reply::Uncertain => !ended && policy != Recover,
                _ => false,
            };
            need(fits, "a key is stuck")?;
        }
        if matches!(record.kind, Kind::InFlight | Kind::Uncertain) {
            for verb in [Verb::Settle, Verb::Forget] {
                let freed = self.visit(record, verb, Rerun).1;
                let reply = self.visit(freed, Verb::Claim, Refuse).0;
                need(matches!(reply, Reply::Acquired { .. }), "a key is stuck, whatever a person does")?;
            }
        }
        Ok(())
    }

    fn visit(&mut self, record: Rec, verb: Verb, policy: OnCrash) -> (Reply, Rec) {
        let fence = if verb == Verb::Claim { 0 } else { record.fence };
        let choice = if verb == Verb::Settle { RUN_AGAIN } else { 0 };
        let question = Question {
            record,
            verb,
            from: STRANGER,
            restore: false,
            choice,
            fence,
            attempt: 0,
            origin: 0,
            policy,
            limit: 0,
            is_cramped: false,
        };
        self.answer(question).expect("no want of memory")
    }
}

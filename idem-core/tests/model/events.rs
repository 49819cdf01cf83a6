//! What happens in a world without its workers: time, losses, and people.

use super::mutation::Mutation;
use super::network::{ENDED, FORCED, RUN_AGAIN, Request, Verb};
use super::past::Loss;
use super::state::{Kind, Rec, Replica, State};
use super::steps::{Label, Model};

impl Model {
    pub(super) fn happen(&mut self, state: &State) {
        self.tick(state);
        if self.world.vanishes && !state.past.has_seen(Loss::Vanished) && state.record.kind != Kind::None {
            let mut gone = *state;
            gone.record = Rec::NONE;
            gone.past.lose(Loss::Vanished);
            self.found(Label::Happens("the record is lost"), gone);
        }
        if self.world.fails_over {
            self.fail_over(state);
        }
        if state.record.kind != Kind::None {
            self.settle(state);
            self.forget(state);
        }
    }

    fn tick(&mut self, state: &State) {
        let mut later = *state;
        let expires = self.world.expires;
        later.record = state.record.aged(expires);
        if later.record.kind == Kind::None && state.record.kind != Kind::None {
            // A crash that nobody meets while it is remembered is forgotten.
            later.past.lose(Loss::Expired);
        }
        if let Replica::At(record) = state.replica {
            later.replica = Replica::At(record.aged(expires));
        }
        for worker in &mut later.workers {
            worker.sure = worker.sure.saturating_sub(1);
            worker.renewed = worker.renewed.saturating_sub(1);
        }
        if expires {
            later.age_requests(self.world.linger - self.world.lease);
            for worker in 0..self.world.workers {
                later.forget_ended(worker);
            }
        }
        self.found(Label::Happens("a tick passes"), later);
    }

    fn fail_over(&mut self, state: &State) {
        let mut changed = *state;
        let past = &mut changed.past;
        match state.replica {
            Replica::Follows => {
                changed.replica = Replica::At(state.record);
                (past.known, past.known_questioned) = (past.granted, past.questioned);
                self.found(Label::Happens("the replica stops following"), changed);
            }
            Replica::At(record) => {
                changed.record = record;
                changed.replica = Replica::TookOver;
                past.fail_over(record);
                self.found(Label::Happens("the replica takes over"), changed);
            }
            Replica::TookOver => {}
        }
    }

    /// A person looks at an attempt of unknown outcome, and says what came of it.
    fn settle(&mut self, state: &State) {
        let record = state.record;
        let unsettled = matches!(record.kind, Kind::InFlight | Kind::Uncertain);
        let looks = record.lease_left() == 0 || self.is(Mutation::SettleLive);
        if unsettled && looks && state.past.settlements < self.world.settlements {
            for (choice, what) in [(ENDED, "a person settles with a result"), (RUN_AGAIN, "a person frees an attempt")]
            {
                let mut sent = *state;
                sent.past.settlements += 1;
                self.write(&mut sent, Verb::Settle, choice);
                self.found(Label::Happens(what), sent);
            }
        }
    }

    /// A person looks at a record, and wants it gone.
    fn forget(&mut self, state: &State) {
        if state.past.forgettings < self.world.forgettings {
            let mut sent = *state;
            sent.past.forgettings += 1;
            self.write(&mut sent, Verb::Forget, if self.world.forces { FORCED } else { 0 });
            self.found(Label::Happens("a person forgets a record"), sent);
        }
    }

    fn write(&self, state: &mut State, verb: Verb, choice: u8) {
        let Rec { owner: from, fence: number, .. } = state.record;
        for _ in 0..self.world.letters {
            state.send(Request { verb, from, number, choice, ..Request::NONE });
        }
    }
}

//! Every step that a state allows.

use std::fmt;

use super::mutation::Mutation;
use super::server::{Reply, Server};
use super::state::{Heard, Kind, Phase, Rec, Request, State, Verb, World};
use super::watch::{self, Verdict};

/// What a step is called in a trace.
#[derive(Clone, Copy)]
pub(crate) enum Label {
    Tick,
    Vanishes,
    Does(u8, &'static str),
    Serves(u8, Verb, Reply),
    Hears(u8, Verb),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tick => f.write_str("a tick passes"),
            Self::Vanishes => f.write_str("the record is lost"),
            Self::Does(worker, what) => write!(f, "{worker} {what}"),
            Self::Serves(worker, verb, reply) => write!(f, "the server does {verb:?} of {worker}: {reply:?}"),
            Self::Hears(worker, verb) => write!(f, "{worker} hears of its {verb:?}"),
        }
    }
}

/// A step, and what the invariants say of it.
pub(crate) struct Next {
    pub(crate) label: Label,
    pub(crate) state: State,
    pub(crate) verdict: Verdict,
}

pub(crate) struct Model {
    pub(crate) world: World,
    mutation: Option<Mutation>,
    server: Server,
    next: Vec<Next>,
}

/// The first proposed fence; skew makes some less.
const CLOCK: u8 = 10;

impl Model {
    pub(crate) fn new(world: World, mutation: Option<Mutation>) -> Self {
        Self { world, mutation, server: Server::new(world, mutation), next: Vec::new() }
    }

    /// All steps from `state`, always in the same order.
    pub(crate) fn steps(&mut self, state: &State) -> Vec<Next> {
        self.next = Vec::new();
        self.tick(state);
        if self.world.vanishes && !state.past.vanished && state.record.kind != Kind::None {
            let mut gone = *state;
            gone.record = Rec::NONE;
            gone.past.forget();
            gone.past.vanished = true;
            self.found(Label::Vanishes, gone);
        }
        for worker in 0..self.world.workers {
            match state.worker(worker).phase {
                Phase::Idle => self.idle(state, worker),
                Phase::Claiming => self.claiming(state, worker),
                Phase::Held => self.held(state, worker),
                Phase::Body => self.running(state, worker),
                Phase::Completing => self.completing(state, worker),
                Phase::Ended => {}
            }
        }
        for at in 0..state.requests().len() {
            // Of equal requests one is enough.
            if at == 0 || state.requests()[at] != state.requests()[at - 1] {
                self.serve(state, at);
            }
        }
        for reply in state.replies() {
            self.hear(state, *reply);
        }
        std::mem::take(&mut self.next)
    }

    fn found(&mut self, label: Label, state: State) {
        self.judged(label, state, Ok(()));
    }

    fn judged(&mut self, label: Label, state: State, verdict: Verdict) {
        let verdict = verdict.and_then(|()| watch::standing(&self.world, &state));
        self.next.push(Next { label, state, verdict });
    }

    fn is(&self, mutation: Mutation) -> bool {
        self.mutation == Some(mutation)
    }

    fn tick(&mut self, state: &State) {
        let mut later = *state;
        let record = &mut later.record;
        // Where nothing expires a record matters only until its lease is over.
        let counts = self.world.expires || record.kind == Kind::InFlight && record.lease_left() > 0;
        if counts && record.kind != Kind::None {
            record.left -= 1;
            if record.left == 0 {
                *record = Rec::NONE;
                later.past.forget();
                later.past.expired = true;
            }
        }
        for worker in &mut later.workers {
            worker.sure = worker.sure.saturating_sub(1);
            worker.renewed = worker.renewed.saturating_sub(1);
        }
        if self.world.expires {
            later.age_requests(self.world.linger - self.world.lease);
            for worker in 0..self.world.workers {
                later.forget_ended(worker);
            }
        }
        self.found(Label::Tick, later);
    }

    fn idle(&mut self, state: &State, worker: u8) {
        if worker > 0 && self.world.is_symmetric() && state.worker(worker - 1).phase == Phase::Idle {
            return;
        }
        let mut sent = *state;
        let started = state.workers.iter().map(|other| u8::from(other.phase != Phase::Idle)).sum::<u8>();
        let mine = sent.worker_mut(worker);
        mine.phase = Phase::Claiming;
        mine.proposed = CLOCK + started * self.world.pace - self.world.skew[usize::from(worker)];
        mine.sure = self.world.lease;
        mine.claims = 1;
        self.send(&mut sent, worker, Verb::Claim);
        self.found(Label::Does(worker, "claims"), sent);
    }

    fn send(&self, state: &mut State, from: u8, verb: Verb) {
        let mine = *state.worker(from);
        let may = mine.sure > 0 || self.is(Mutation::RestoreThoughUnsure);
        let restore = may && matches!(verb, Verb::Renew | Verb::Complete);
        let number = if verb == Verb::Renew { mine.renews } else { 0 };
        state.send(Request { verb, from, number, restore, age: 0 });
    }

    /// Ends after sending a release, in all its copies.
    fn give_up(&mut self, state: &State, worker: u8, verb: Verb, label: Label) {
        let mut sent = *state;
        for _ in 0..self.world.releases {
            self.send(&mut sent, worker, verb);
        }
        sent.end(worker);
        self.found(label, sent);
    }

    fn crash(&mut self, state: &State, worker: u8) {
        let mut ended = *state;
        ended.end(worker);
        self.found(Label::Does(worker, "ends without a word"), ended);
    }

    fn claiming(&mut self, state: &State, worker: u8) {
        if state.worker(worker).claims < self.world.claims {
            let mut sent = *state;
            let mine = sent.worker_mut(worker);
            mine.claims += 1;
            if self.is(Mutation::LeaseFromRepeatedClaim) {
                mine.sure = self.world.lease;
            }
            self.send(&mut sent, worker, Verb::Claim);
            self.found(Label::Does(worker, "repeats its claim"), sent);
        }
        self.give_up(state, worker, Verb::Retract, Label::Does(worker, "is dropped unanswered"));
        self.crash(state, worker);
    }

    fn held(&mut self, state: &State, worker: u8) {
        if state.worker(worker).sure > 0 || self.is(Mutation::BodyOnDeadLease) {
            let mut begun = *state;
            begun.worker_mut(worker).phase = Phase::Body;
            let verdict = watch::begins(worker, &mut begun);
            self.judged(Label::Does(worker, "begins its body"), begun, verdict);
        }
        self.renew(state, worker);
        self.give_up(state, worker, Verb::Retract, Label::Does(worker, "is dropped before its body"));
        self.crash(state, worker);
    }

    fn renew(&mut self, state: &State, worker: u8) {
        if state.worker(worker).renews < self.world.renews {
            let mut sent = *state;
            let mine = sent.worker_mut(worker);
            mine.renews += 1;
            mine.renewed = self.world.lease;
            sent.drop_replies(|reply| reply.to == worker && reply.verb == Verb::Renew);
            self.send(&mut sent, worker, Verb::Renew);
            self.found(Label::Does(worker, "renews"), sent);
        }
    }

    fn running(&mut self, state: &State, worker: u8) {
        self.renew(state, worker);
        self.complete(state, worker, "completes");
        if self.world.fails {
            self.give_up(state, worker, Verb::Release, Label::Does(worker, "fails and releases"));
        }
        if self.is(Mutation::RetractAfterBody) {
            self.give_up(state, worker, Verb::Retract, Label::Does(worker, "fails and releases by its token"));
        }
        self.crash(state, worker);
    }

    fn completing(&mut self, state: &State, worker: u8) {
        if state.worker(worker).completions < self.world.completions {
            self.complete(state, worker, "repeats its completion");
        }
        self.crash(state, worker);
    }

    fn complete(&mut self, state: &State, worker: u8, what: &'static str) {
        let mut sent = *state;
        let mine = sent.worker_mut(worker);
        mine.phase = Phase::Completing;
        mine.completions += 1;
        sent.drop_replies(|reply| reply.to == worker);
        self.send(&mut sent, worker, Verb::Complete);
        // Nothing is to be done after the last one.
        if sent.worker(worker).completions == self.world.completions {
            sent.end(worker);
        }
        self.found(Label::Does(worker, what), sent);
    }

    fn serve(&mut self, state: &State, at: usize) {
        let mut served = *state;
        let request = served.take(at);
        let worker = request.from;
        let (reply, after) = self.server.decide(state.record, request, state.worker(worker));
        served.record = after;
        let verdict = watch::served(&self.world, state.record, request, reply, &mut served);
        served.forget_ended(worker);
        let none = Heard { verb: request.verb, to: worker, number: request.number, fence: 0, attempt: 0, origin: 0 };
        let mine = served.worker(worker);
        match reply {
            Reply::Acquired { fence, attempt, origin } if mine.phase == Phase::Claiming => {
                served.answer(Heard { fence, attempt, origin, ..none });
            }
            Reply::Renewed | Reply::Reasserted
                if matches!(mine.phase, Phase::Held | Phase::Body) && mine.renews == request.number =>
            {
                served.answer(none);
            }
            _ => {}
        }
        self.judged(Label::Serves(worker, request.verb, reply), served, verdict);
    }

    fn hear(&mut self, state: &State, reply: Heard) {
        let worker = reply.to;
        let label = Label::Hears(worker, reply.verb);
        let mut heard = *state;
        if reply.verb == Verb::Renew {
            heard.drop_replies(|other| *other == reply);
            let from_reply = self.is(Mutation::RenewalFromItsReply);
            let mine = heard.worker_mut(worker);
            mine.sure = mine.sure.max(if from_reply { self.world.lease } else { mine.renewed });
            mine.renewed = 0;
        } else {
            heard.drop_replies(|other| other.to == worker);
            let mine = heard.worker_mut(worker);
            (mine.fence, mine.attempt, mine.origin) = (reply.fence, reply.attempt, reply.origin);
            mine.phase = Phase::Held;
            if mine.sure == 0 && !self.is(Mutation::BodyOnDeadLease) {
                // Answered too late to begin under.
                return self.give_up(&heard, worker, Verb::Retract, label);
            }
        }
        self.found(label, heard);
    }
}

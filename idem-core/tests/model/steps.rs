//! Every step that a state allows.

use std::fmt;

use super::mutation::Mutation;
use super::network::{COMPLETED, FAILED, HELD, Heard, REJECTED, RELEASED, Request, Verb};
use super::replies::{DOUBT, Reply};
use super::server::Server;
use super::state::{Kind, Phase, State, Worker};
use super::watch::{self, Verdict};
use super::world::World;

/// What a step is called in a trace.
#[derive(Clone, Copy)]
pub(crate) enum Label {
    Happens(&'static str),
    Does(u8, &'static str),
    Serves(u8, Verb, Reply),
    Hears(u8, Verb),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Happens(what) => f.write_str(what),
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
        self.happen(state);
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
                self.serve(state, at, false);
                let gives_up = matches!(state.requests()[at].verb, Verb::Release | Verb::Retract);
                if self.world.is_cramped && gives_up && state.record.kind != Kind::None {
                    self.serve(state, at, true);
                }
            }
        }
        for reply in state.replies() {
            self.hear(state, *reply);
        }
        std::mem::take(&mut self.next)
    }

    pub(super) fn found(&mut self, label: Label, state: State) {
        self.judged(label, state, Ok(()));
    }

    fn judged(&mut self, label: Label, state: State, verdict: Verdict) {
        let verdict = verdict.and_then(|()| watch::standing(&self.world, &state));
        let verdict = verdict.and_then(|()| self.server.probe(state.record));
        self.next.push(Next { label, state, verdict });
    }

    pub(super) fn is(&self, mutation: Mutation) -> bool {
        self.mutation == Some(mutation)
    }

    fn idle(&mut self, state: &State, worker: u8) {
        if worker > 0 && self.world.are_alike(worker - 1, worker) && state.worker(worker - 1).phase == Phase::Idle {
            return;
        }
        let mut sent = *state;
        let started = state.workers.iter().map(|other| u8::from(other.phase != Phase::Idle)).sum::<u8>();
        let mine = sent.worker_mut(worker);
        mine.phase = Phase::Claiming;
        mine.proposed = CLOCK + started * self.world.pace - self.world.skew[usize::from(worker)];
        mine.sure = self.world.lease;
        mine.claims = 1;
        self.send(&mut sent, worker, Verb::Claim, 0);
        self.found(Label::Does(worker, "claims"), sent);
    }

    fn send(&self, state: &mut State, from: u8, verb: Verb, choice: u8) {
        let mine = *state.worker(from);
        let regardless = match verb {
            Verb::Renew => self.is(Mutation::ReassertThoughUnsure),
            Verb::Complete => self.is(Mutation::RestoreThoughUnsure),
            _ => false,
        };
        let restore = (mine.sure > 0 || regardless) && matches!(verb, Verb::Renew | Verb::Complete);
        let number = if verb == Verb::Renew { mine.renews } else { 0 };
        state.send(Request { verb, from, number, choice, restore, age: 0 });
    }

    /// Ends after sending a release, in all its copies.
    fn give_up(&mut self, state: &State, worker: u8, (verb, choice): (Verb, u8), label: Label) {
        let mut sent = *state;
        for _ in 0..self.world.releases {
            self.send(&mut sent, worker, verb, choice);
        }
        sent.end(worker);
        self.found(label, sent);
    }

    fn crash(&mut self, state: &State, worker: u8) {
        if !self.world.crashes {
            return;
        }
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
            self.send(&mut sent, worker, Verb::Claim, 0);
            self.found(Label::Does(worker, "repeats its claim"), sent);
        }
        self.give_up(state, worker, (Verb::Retract, 0), Label::Does(worker, "is dropped unanswered"));
        self.crash(state, worker);
    }

    fn held(&mut self, state: &State, worker: u8) {
        let mine = state.worker(worker);
        if mine.origin == DOUBT && !mine.asked && !self.is(Mutation::DoubtNotAsked) {
            self.ask(state, worker);
        } else if mine.sure > 0 || self.is(Mutation::BodyOnDeadLease) || mine.asked && self.is(Mutation::AskOutlasts) {
            let mut begun = *state;
            begun.worker_mut(worker).phase = Phase::Body;
            let verdict = watch::begins(&self.world, worker, &mut begun);
            self.judged(Label::Does(worker, "begins its body"), begun, verdict);
        }
        self.renew(state, worker);
        self.give_up(state, worker, (Verb::Retract, 0), Label::Does(worker, "is dropped before its body"));
        self.crash(state, worker);
    }

    /// Asks what came of the attempts before. Nobody knows when in the meantime the answer was true.
    fn ask(&mut self, state: &State, worker: u8) {
        let mut heard = *state;
        heard.worker_mut(worker).asked = true;
        self.found(Label::Does(worker, "asks, and nothing happened"), heard);
        if state.past.began & !(1 << worker) != 0 {
            let mut heard = *state;
            heard.past.found |= 1 << worker;
            self.complete(&heard, worker, "asks, and completes with the result", COMPLETED);
        }
        self.give_up(state, worker, (Verb::Release, HELD), Label::Does(worker, "asks in vain"));
    }

    fn renew(&mut self, state: &State, worker: u8) {
        let renews = self.world.renewers & (1 << worker) != 0;
        if renews && state.worker(worker).renews < self.world.renews {
            let mut sent = *state;
            let mine = sent.worker_mut(worker);
            mine.renews += 1;
            mine.renewed = self.world.lease;
            sent.drop_replies(|reply| reply.to == worker && reply.verb == Verb::Renew);
            self.send(&mut sent, worker, Verb::Renew, 0);
            self.found(Label::Does(worker, "renews"), sent);
        }
    }

    fn running(&mut self, state: &State, worker: u8) {
        self.renew(state, worker);
        self.complete(state, worker, "completes", COMPLETED);
        if self.world.concludes {
            self.complete(state, worker, "fails for good", FAILED);
        }
        let World { fails, holds, rejects, .. } = self.world;
        if fails {
            self.give_up(state, worker, (Verb::Release, RELEASED), Label::Does(worker, "fails and releases"));
        }
        if holds {
            self.give_up(state, worker, (Verb::Release, HELD), Label::Does(worker, "fails and holds"));
        }
        if rejects {
            self.give_up(state, worker, (Verb::Release, REJECTED), Label::Does(worker, "rejects its arguments"));
        }
        if self.is(Mutation::RetractAfterBody) {
            self.give_up(state, worker, (Verb::Retract, 0), Label::Does(worker, "fails and releases by its token"));
        }
        self.crash(state, worker);
    }

    fn completing(&mut self, state: &State, worker: u8) {
        let mine = state.worker(worker);
        if mine.completions < self.world.completions {
            self.complete(state, worker, "repeats its completion", mine.ending);
        }
        self.crash(state, worker);
    }

    fn complete(&mut self, state: &State, worker: u8, what: &'static str, ending: u8) {
        let mut sent = *state;
        let mine = sent.worker_mut(worker);
        mine.phase = Phase::Completing;
        mine.ending = ending;
        mine.completions += 1;
        sent.drop_replies(|reply| reply.to == worker);
        self.send(&mut sent, worker, Verb::Complete, ending);
        // Nothing is to be done after the last one.
        if sent.worker(worker).completions == self.world.completions {
            sent.end(worker);
        }
        self.found(Label::Does(worker, what), sent);
    }

    fn serve(&mut self, state: &State, at: usize, is_cramped: bool) {
        let mut served = *state;
        let request = served.take(at);
        let worker = request.from;
        let sender = if request.verb.is_of_people() { Worker::IDLE } else { *state.worker(worker) };
        // What is refused is as good as lost on its way.
        let Some((reply, after)) = self.server.decide(state.record, request, &sender, is_cramped) else { return };
        served.record = after;
        let verdict = watch::served(&self.world, state.record, request, reply, &mut served);
        let label = Label::Serves(worker, request.verb, reply);
        if request.verb.is_of_people() {
            return self.judged(label, served, verdict);
        }
        served.forget_ended(worker);
        let none = Heard { verb: request.verb, to: worker, number: request.number, ..Heard::NONE };
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
        self.judged(label, served, verdict);
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
            let goes_on = self.is(Mutation::BodyOnDeadLease) || self.is(Mutation::LateAnswerRenewed);
            if mine.sure == 0 && !goes_on {
                // Answered too late to begin under.
                return self.give_up(&heard, worker, (Verb::Retract, 0), label);
            }
        }
        self.found(label, heard);
    }
}

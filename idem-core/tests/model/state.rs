//! A state of a small world, encoded to be copied, compared and hashed cheaply.

use std::hash::{Hash, Hasher};

use super::network::{Heard, Request, Verb};
use super::past::Past;
use super::world::TICK;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    None,
    InFlight,
    Released,
    Uncertain,
    Completed,
    Failed,
}

impl Kind {
    pub(crate) fn is_settled(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

/// The record, its token replaced by the worker that made it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rec {
    pub(crate) kind: Kind,
    /// Whose token, or whose result, it holds.
    pub(crate) owner: u8,
    pub(crate) fence: u8,
    pub(crate) attempt: u8,
    /// [`OPEN`] where the next claim binds its own.
    pub(crate) fingerprint: u8,
    pub(crate) origin: u8,
    /// What is left of its life, in ticks.
    pub(crate) left: u8,
    /// The lease's end, in milliseconds of remaining life.
    pub(crate) floor: u16,
}

/// The fingerprint of a record that is bound to none.
pub(crate) const OPEN: u8 = 2;
/// The life of a record that outlives every world.
pub(crate) const FOREVER: u8 = u8::MAX;

impl Rec {
    pub(crate) const NONE: Self =
        Self { kind: Kind::None, owner: 0, fence: 0, attempt: 0, fingerprint: 0, origin: 0, left: 0, floor: 0 };

    /// What is left of the lease by the server's count, in milliseconds.
    pub(crate) fn lease_left(&self) -> u64 {
        match self.kind {
            Kind::InFlight => (u64::from(self.left) * TICK).saturating_sub(self.floor.into()),
            _ => 0,
        }
    }

    /// A tick later; nothing if its life is over then. Where nothing expires only a lease counts.
    pub(crate) fn aged(self, expires: bool) -> Self {
        let counts = expires && self.left != FOREVER || self.lease_left() > 0;
        match self.left {
            _ if self.kind == Kind::None || !counts => self,
            1 => Self::NONE,
            left => Self { left: left - 1, ..self },
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Phase {
    Idle,
    Claiming,
    Held,
    Body,
    Completing,
    Ended,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Worker {
    pub(crate) phase: Phase,
    /// Ticks of its lease that are left by its own count.
    pub(crate) sure: u8,
    /// The grant it goes by.
    pub(crate) fence: u8,
    pub(crate) attempt: u8,
    pub(crate) origin: u8,
    pub(crate) proposed: u8,
    /// Whether it has asked for the unknown outcome, and may run.
    pub(crate) asked: bool,
    /// How its completion ends.
    pub(crate) ending: u8,
    /// How many of each it has sent.
    pub(crate) claims: u8,
    pub(crate) renews: u8,
    pub(crate) completions: u8,
    /// What its latest renewal, if answered, leaves of its lease.
    pub(crate) renewed: u8,
}

impl Worker {
    pub(crate) const IDLE: Self = Self {
        phase: Phase::Idle,
        sure: 0,
        fence: 0,
        attempt: 0,
        origin: 0,
        proposed: 0,
        asked: false,
        ending: 0,
        claims: 0,
        renews: 0,
        completions: 0,
        renewed: 0,
    };

    /// Whether it counts on its claim.
    pub(crate) fn relies(&self) -> bool {
        matches!(self.phase, Phase::Held | Phase::Body) && self.sure > 0
    }
}

/// Where a replica stands that may take over.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Replica {
    Follows,
    /// It has stopped at this record.
    At(Rec),
    TookOver,
}

const REQUESTS: usize = 12;
const REPLIES: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct State {
    pub(crate) record: Rec,
    pub(crate) replica: Replica,
    pub(crate) workers: [Worker; 3],
    requests: [Request; REQUESTS],
    replies: [Heard; REPLIES],
    pub(crate) past: Past,
}

impl State {
    pub(crate) fn start() -> Self {
        Self {
            record: Rec::NONE,
            replica: Replica::Follows,
            workers: [Worker::IDLE; 3],
            requests: [Request::NONE; REQUESTS],
            replies: [Heard::NONE; REPLIES],
            past: Past::NOTHING,
        }
    }

    /// Numbers in `u8`, as everything here.
    pub(crate) fn worker(&self, worker: u8) -> &Worker {
        &self.workers[usize::from(worker)]
    }

    pub(crate) fn worker_mut(&mut self, worker: u8) -> &mut Worker {
        &mut self.workers[usize::from(worker)]
    }

    pub(crate) fn requests(&self) -> &[Request] {
        let length = self.requests.iter().take_while(|request| request.verb != Verb::None).count();
        &self.requests[..length]
    }

    pub(crate) fn replies(&self) -> &[Heard] {
        let length = self.replies.iter().take_while(|reply| reply.verb != Verb::None).count();
        &self.replies[..length]
    }

    pub(crate) fn send(&mut self, request: Request) {
        let end = self.requests().len();
        self.requests[end] = request;
        // The network keeps no order.
        self.requests[..=end].sort_unstable();
    }

    pub(crate) fn take(&mut self, at: usize) -> Request {
        let end = self.requests().len();
        let request = self.requests[at];
        self.requests.copy_within(at + 1..end, at);
        self.requests[end - 1] = Request::NONE;
        request
    }

    /// Lets every request grow older by a tick and drops those older than `oldest`.
    pub(crate) fn age_requests(&mut self, oldest: u8) {
        let old = self.requests;
        self.requests = [Request::NONE; REQUESTS];
        for request in old.into_iter().filter(|request| request.verb != Verb::None && request.age < oldest) {
            self.send(Request { age: request.age + 1, ..request });
        }
    }

    /// A reply is on its way. Hearing the same one twice tells nothing new.
    pub(crate) fn answer(&mut self, reply: Heard) {
        let end = self.replies().len();
        if !self.replies[..end].contains(&reply) {
            self.replies[end] = reply;
            self.replies[..=end].sort_unstable();
        }
    }

    pub(crate) fn drop_replies(&mut self, is_over: impl Fn(&Heard) -> bool) {
        let old = self.replies;
        self.replies = [Heard::NONE; REPLIES];
        let kept = old.into_iter().filter(|reply| reply.verb != Verb::None && !is_over(reply));
        for (place, reply) in self.replies.iter_mut().zip(kept) {
            *place = reply;
        }
    }

    /// Nothing more is heard or done by this worker.
    pub(crate) fn end(&mut self, worker: u8) {
        self.worker_mut(worker).phase = Phase::Ended;
        self.drop_replies(|reply| reply.to == worker);
        self.forget_ended(worker);
    }

    /// Forgets of an ended worker what no request of its own needs, so that equal states look equal.
    pub(crate) fn forget_ended(&mut self, worker: u8) {
        let mine = *self.worker(worker);
        if mine.phase != Phase::Ended {
            return;
        }
        let mut kept = Worker { phase: Phase::Ended, ..Worker::IDLE };
        for request in self.requests().iter().filter(|request| request.from == worker && !request.verb.is_of_people()) {
            if request.verb == Verb::Claim {
                kept.proposed = mine.proposed;
            } else {
                (kept.fence, kept.attempt, kept.origin) = (mine.fence, mine.attempt, mine.origin);
            }
        }
        *self.worker_mut(worker) = kept;
    }
}

// Each in few words: derived, hashing would be most of the work.

impl Hash for Rec {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { kind, owner, fence, attempt, fingerprint, origin, left, floor } = *self;
        let floor = u8::try_from(u64::from(floor) / TICK).unwrap_or(u8::MAX);
        let word = [kind as u8, owner, fence, attempt, fingerprint << 4 | origin, left, floor, 0];
        hasher.write_u64(u64::from_le_bytes(word));
    }
}

impl Hash for Worker {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { phase, sure, fence, attempt, origin, proposed, asked, ending, claims, renews, completions, renewed } =
            *self;
        let grant = attempt << 4 | origin;
        let sent = claims << 4 | renews;
        let end = completions << 4 | u8::from(asked) << 1 | ending;
        let word = [phase as u8, sure, fence, grant, proposed, sent, end, renewed];
        hasher.write_u64(u64::from_le_bytes(word));
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.record, self.workers, self.past).hash(hasher);
        if self.replica != Replica::Follows {
            self.replica.hash(hasher);
        }
        self.requests().hash(hasher);
        self.replies().hash(hasher);
    }
}

//! A state of a small world, encoded to be copied, compared and hashed cheaply.

use std::hash::{Hash, Hasher};

/// The record's life and the leases are counted in ticks of this many milliseconds.
pub(crate) const TICK: u64 = 100;

/// What may happen in a world.
#[derive(Clone, Copy)]
pub(crate) struct World {
    pub(crate) workers: u8,
    /// The lease, in ticks.
    pub(crate) lease: u8,
    /// Life of every record, in ticks.
    pub(crate) linger: u8,
    /// How often each worker sends its claim, under one token.
    pub(crate) claims: u8,
    pub(crate) renews: u8,
    /// How often each worker sends its completion.
    pub(crate) completions: u8,
    /// How many copies of a release reach the network.
    pub(crate) releases: u8,
    /// Whether bodies may fail.
    pub(crate) fails: bool,
    /// Whether the record may be lost once.
    pub(crate) vanishes: bool,
    /// Whether records expire; requests older than `linger - lease` are then lost.
    pub(crate) expires: bool,
    pub(crate) fingerprints: [u8; 3],
    /// By how much each worker's proposed fence lags behind.
    pub(crate) skew: [u8; 3],
    /// By how much the proposed fences of two claims differ, skew aside.
    pub(crate) pace: u8,
}

impl World {
    /// Two workers that send everything once.
    pub(crate) const LEAN: Self = Self {
        workers: 2,
        lease: 2,
        linger: 4,
        claims: 1,
        renews: 0,
        completions: 1,
        releases: 1,
        fails: true,
        vanishes: false,
        expires: false,
        fingerprints: [0; 3],
        skew: [0; 3],
        pace: 1,
    };

    /// The lease in milliseconds: the server grants two more, which makes whole ticks.
    pub(crate) fn lease_millis(&self) -> u64 {
        u64::from(self.lease) * TICK - 2
    }

    /// Whether it makes no difference which worker comes first.
    pub(crate) fn is_symmetric(&self) -> bool {
        self.fingerprints == [0; 3] && self.skew == [0; 3]
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    None,
    InFlight,
    Released,
    Completed,
}

/// The record, its token replaced by the worker that made it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Rec {
    pub(crate) kind: Kind,
    /// Whose token, or whose result, it holds.
    pub(crate) owner: u8,
    pub(crate) fence: u8,
    pub(crate) attempt: u8,
    pub(crate) fingerprint: u8,
    pub(crate) origin: u8,
    /// What is left of its life, in ticks.
    pub(crate) left: u8,
    /// The lease's end, in milliseconds of remaining life.
    pub(crate) floor: u16,
}

impl Rec {
    pub(crate) const NONE: Self =
        Self { kind: Kind::None, owner: 0, fence: 0, attempt: 0, fingerprint: 0, origin: 0, left: 0, floor: 0 };

    /// What is left of the lease by the server's count, in milliseconds.
    pub(crate) fn lease_left(&self) -> u64 {
        (u64::from(self.left) * TICK).saturating_sub(self.floor.into())
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

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Verb {
    None,
    Claim,
    Renew,
    Complete,
    /// After its body ran.
    Release,
    /// By the token alone: nothing ran.
    Retract,
}

/// A request in the network. What else it carries is its worker's, which keeps it as long as the request is on its way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Request {
    pub(crate) verb: Verb,
    pub(crate) from: u8,
    /// Which of a worker's renewals it is.
    pub(crate) number: u8,
    pub(crate) restore: bool,
    /// In ticks; counted only where records expire.
    pub(crate) age: u8,
}

impl Request {
    const NONE: Self = Self { verb: Verb::None, from: 0, number: 0, restore: false, age: 0 };
}

/// A reply in the network. Only those that let a worker go on: hearing any other is like crashing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Heard {
    pub(crate) verb: Verb,
    pub(crate) to: u8,
    pub(crate) number: u8,
    pub(crate) fence: u8,
    pub(crate) attempt: u8,
    pub(crate) origin: u8,
}

impl Heard {
    const NONE: Self = Self { verb: Verb::None, to: 0, number: 0, fence: 0, attempt: 0, origin: 0 };
}

/// What has happened, as far as an invariant asks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Past {
    /// The greatest fence and attempt that were granted.
    pub(crate) fence: u8,
    pub(crate) attempt: u8,
    /// The greatest fence a body began under.
    pub(crate) began_under: u8,
    /// Whose bodies began, and which of them were then released: a bit per worker.
    pub(crate) began: u8,
    pub(crate) released: u8,
    /// A taken over attempt began and nothing completed since.
    pub(crate) owed: bool,
    /// Whose completion is recorded, counted from 1.
    pub(crate) result: u8,
    /// Who was granted last.
    pub(crate) last: u8,
    pub(crate) vanished: bool,
    pub(crate) expired: bool,
}

impl Past {
    pub(crate) fn lost_nothing(&self) -> bool {
        !self.vanished && !self.expired
    }

    /// The record is gone, and what was promised about it.
    pub(crate) fn forget(&mut self) {
        (self.owed, self.result) = (false, 0);
    }
}

const REQUESTS: usize = 12;
const REPLIES: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct State {
    pub(crate) record: Rec,
    pub(crate) workers: [Worker; 3],
    requests: [Request; REQUESTS],
    replies: [Heard; REPLIES],
    pub(crate) past: Past,
}

impl State {
    pub(crate) fn start() -> Self {
        let past = Past {
            fence: 0,
            attempt: 0,
            began_under: 0,
            began: 0,
            released: 0,
            owed: false,
            result: 0,
            last: 0,
            vanished: false,
            expired: false,
        };
        Self {
            record: Rec::NONE,
            workers: [Worker::IDLE; 3],
            requests: [Request::NONE; REQUESTS],
            replies: [Heard::NONE; REPLIES],
            past,
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
        for request in self.requests().iter().filter(|request| request.from == worker) {
            if request.verb == Verb::Claim {
                kept.proposed = mine.proposed;
            } else {
                (kept.fence, kept.attempt, kept.origin) = (mine.fence, mine.attempt, mine.origin);
            }
        }
        *self.worker_mut(worker) = kept;
    }
}

// Each in one word: derived, hashing would be most of the work.

impl Hash for Worker {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let grant = self.attempt << 4 | self.origin;
        let sent = self.claims << 4 | self.renews;
        let Self { phase, sure, fence, proposed, completions, renewed, .. } = *self;
        let word = [phase as u8, sure, fence, grant, proposed, sent, completions, renewed];
        hasher.write_u64(u64::from_le_bytes(word));
    }
}

impl Hash for Request {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let word = [self.verb as u8, self.from, self.number, self.restore.into(), self.age, 0, 0, 0];
        hasher.write_u64(u64::from_le_bytes(word));
    }
}

impl Hash for Heard {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let word = [self.verb as u8, self.to, self.number, self.fence, self.attempt, self.origin, 0, 0];
        hasher.write_u64(u64::from_le_bytes(word));
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.record, self.workers, self.past).hash(hasher);
        self.requests().hash(hasher);
        self.replies().hash(hasher);
    }
}

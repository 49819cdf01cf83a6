//! The server of a world: the pure functions of the protocol, fed with real requests and records.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use idem_core::Codec;
use idem_core::conformance::Intent;
use idem_core::protocol::{self, Step, Stored, UNCERTAIN_LINGER, Write};
use idem_core::record::{Claimed, Ending, Fence, Kept, Record, State as RecordState, Token};
use idem_core::store::{Claim, Forget, Grant, OnCrash, Settle, Settlement};

use super::hash::Fast;
use super::mutation::Mutation;
use super::network::{ENDED, FAILED, FORCED, GIVEN_UP, Request, Verb};
use super::replies::{ORIGINS, Reply, origin, small};
use super::state::{FOREVER, Kind, OPEN, Rec, Worker};
use super::world::{TICK, World};

/// Everything that a decision depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) record: Rec,
    pub(crate) verb: Verb,
    pub(crate) from: u8,
    pub(crate) restore: bool,
    pub(crate) choice: u8,
    /// The fence, attempt and origin of the grant; in a claim, the proposed fence; of a person, the fence that was seen.
    pub(crate) fence: u8,
    pub(crate) attempt: u8,
    pub(crate) origin: u8,
    /// Of a claim.
    pub(crate) policy: OnCrash,
    pub(crate) limit: u8,
    /// Whether there is no memory for the record of a release.
    pub(crate) is_cramped: bool,
}

impl Hash for Question {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { record, verb, from, restore, choice, fence, attempt, origin, policy, limit, is_cramped } = *self;
        record.hash(hasher);
        let flags = choice << 4 | u8::from(restore) << 1 | u8::from(is_cramped);
        let word = [verb as u8, from, flags, fence, attempt, origin, policy as u8, limit];
        hasher.write_u64(u64::from_le_bytes(word));
    }
}

/// The answer, and the record after it; `None` where the server refuses.
pub(crate) type Decision = Option<(Reply, Rec)>;

/// The server. The same question is put to the code once: the functions are pure.
pub(crate) struct Server {
    world: World,
    mutation: Option<Mutation>,
    intents: [Intent; 2],
    tokens: [Token; 5],
    decided: HashMap<Question, Decision, Fast>,
    pub(super) probed: HashMap<Rec, Result<(), &'static str>, Fast>,
}

/// The owner of a record with a token that is none of the workers'.
pub(crate) const NOBODY: u8 = 3;
/// One who comes by and is not seen again.
pub(crate) const STRANGER: u8 = 4;
/// Whose result a person's is.
pub(crate) const PERSON: u8 = 5;

impl Server {
    pub(crate) fn new(world: World, mutation: Option<Mutation>) -> Self {
        let intent = Intent::of("model");
        let other = intent.with_other_arguments();
        let tokens = [(); 5].map(|()| Token::random());
        let (decided, probed) = (HashMap::default(), HashMap::default());
        Self { world, mutation, intents: [intent, other], tokens, decided, probed }
    }

    /// The answer to a request, and the record after it.
    pub(crate) fn decide(&mut self, record: Rec, request: Request, sender: &Worker, is_cramped: bool) -> Decision {
        let Request { verb, from, number, choice, restore, .. } = request;
        let (fence, attempt, origin) = match verb {
            Verb::Claim => (sender.proposed, 0, 0),
            Verb::Retract => (0, 0, 0),
            Verb::Settle | Verb::Forget => (number, 0, 0),
            _ => (sender.fence, sender.attempt, sender.origin),
        };
        // What does not bear on the question is left out of it.
        let (policy, limit) = match verb {
            Verb::Claim => (self.world.policy(from), self.world.limit(from)),
            _ => (OnCrash::Rerun, 0),
        };
        let from = if verb.is_of_people() { NOBODY } else { from };
        self.answer(Question { record, verb, from, restore, choice, fence, attempt, origin, policy, limit, is_cramped })
    }

    pub(crate) fn answer(&mut self, question: Question) -> Decision {
        if let Some(known) = self.decided.get(&question) {
            return *known;
        }
        let decision = self.perturbed(&question);
        self.decided.insert(question, decision);
        decision
    }

    /// The decision of the code about what the mutation shows it, as the mutation lets it be seen.
    fn perturbed(&self, question: &Question) -> Decision {
        let Some(mutation) = self.mutation else { return self.ask(question) };
        let asked = mutation.show(question, self.fingerprint(question));
        let (reply, after) = self.ask(&asked).or_else(|| mutation.unrefused(question))?;
        let after = if after == asked.record { question.record } else { after };
        Some(mutation.tamper(question, reply, after))
    }

    fn ask(&self, question: &Question) -> Decision {
        let shown = question.record;
        let record = self.record(shown);
        let left = if shown.left == FOREVER { UNCERTAIN_LINGER } else { u64::from(shown.left) * TICK };
        let stored = record.as_ref().map(|record| Stored { record, left: Some(left) });
        let intent = &self.intents[usize::from(self.fingerprint(question))];
        let claim = self.claim(question, intent);
        let grant = granted(question, &claim);
        Some(match question.verb {
            Verb::Claim => self.outcome(shown, protocol::claim(stored, &claim)),
            Verb::Renew => self.outcome(shown, protocol::renew(stored, &intent.renew(&claim, grant, question.restore))),
            Verb::Complete => {
                let mut request = intent.complete(&claim, grant, vec![question.from], question.restore);
                request.retention = claim.linger;
                request.ending = if question.choice == FAILED { Ending::Failed } else { Ending::Completed };
                self.outcome(shown, protocol::complete(stored, &request))
            }
            Verb::Release | Verb::Retract => {
                let mut request = intent.release(&claim, (question.verb == Verb::Release).then_some(grant));
                request.retention = claim.linger;
                request.given_up = GIVEN_UP[usize::from(question.choice)];
                if question.is_cramped {
                    self.outcome(shown, protocol::release_without_memory(stored, &request)?)
                } else {
                    self.outcome(shown, protocol::release(stored, &request))
                }
            }
            Verb::Settle => self.outcome(shown, protocol::settle(stored, &self.settle(question, &claim))),
            Verb::Forget => self.outcome(shown, protocol::forget(stored, &self.forget(question, &claim))),
            Verb::None => unreachable!("no request"),
        })
    }

    /// Whose arguments are asked with: a stranger comes with those of the record.
    fn fingerprint(&self, question: &Question) -> u8 {
        match question.from {
            worker @ 0..3 => self.world.fingerprint(worker),
            _ => question.record.fingerprint % OPEN,
        }
    }

    fn claim(&self, question: &Question, intent: &Intent) -> Claim {
        let mut claim = intent.claim_from(Fence::new(question.fence.into()));
        claim.token = self.tokens[usize::from(question.from)];
        claim.lease = self.world.lease_millis();
        claim.linger = u64::from(self.world.linger) * TICK;
        claim.on_crash = question.policy;
        claim.max_attempts = (question.limit > 0).then_some(question.limit.into());
        claim
    }

    fn settle(&self, question: &Question, claim: &Claim) -> Settle {
        let settlement = match question.choice {
            ENDED => Settlement::Ended(Ending::Completed, kept(PERSON)),
            _ => Settlement::RunAgain,
        };
        let mut request = self.intents[0].settle(Fence::new(question.fence.into()), settlement);
        request.retention = claim.linger;
        request
    }

    fn forget(&self, question: &Question, claim: &Claim) -> Forget {
        let mut request = self.intents[0].forget(Fence::new(question.fence.into()), question.choice == FORCED);
        request.retention = claim.linger;
        request
    }

    fn record(&self, shown: Rec) -> Option<Record> {
        let token = self.tokens[usize::from(shown.owner) % self.tokens.len()];
        let claimed = Claimed { token, floor: shown.floor.into(), origin: ORIGINS[usize::from(shown.origin)] };
        let state = match shown.kind {
            Kind::None => return None,
            Kind::InFlight => RecordState::InFlight(claimed),
            Kind::Released => RecordState::Released(claimed),
            Kind::Uncertain => RecordState::Uncertain(claimed),
            Kind::Completed => RecordState::Completed(kept(shown.owner)),
            Kind::Failed => RecordState::Failed(kept(shown.owner)),
        };
        Some(Record {
            fingerprint: self.intents.get(usize::from(shown.fingerprint)).map(|intent| intent.fingerprint),
            fence: Fence::new(shown.fence.into()),
            attempt: shown.attempt.into(),
            state,
        })
    }

    fn outcome<R: Into<Reply>>(&self, before: Rec, step: Step<R>) -> (Reply, Rec) {
        let after = match step.write {
            Write::Nothing => before,
            Write::Extend { life } => Rec { left: ticks(life), ..before },
            Write::Put { record, life } => Rec { left: ticks(life), ..self.seen(&record) },
            Write::Delete => Rec::NONE,
        };
        (step.reply.into(), after)
    }

    fn seen(&self, record: &Record) -> Rec {
        let bound = record.fingerprint.map_or(OPEN, |bound| u8::from(bound != self.intents[0].fingerprint));
        let fence = small(record.fence.get());
        let base = Rec { fence, attempt: small(record.attempt.into()), fingerprint: bound, ..Rec::NONE };
        let unfinished = |kind, claimed: &Claimed| {
            let owner = self.tokens.iter().position(|token| *token == claimed.token).expect("a known token");
            let floor = u16::try_from(claimed.floor).expect("a small floor");
            Rec { kind, owner: small(owner as u64), floor, origin: origin(claimed.origin), ..base }
        };
        match &record.state {
            RecordState::InFlight(claimed) => unfinished(Kind::InFlight, claimed),
            RecordState::Released(claimed) => unfinished(Kind::Released, claimed),
            RecordState::Uncertain(claimed) => unfinished(Kind::Uncertain, claimed),
            RecordState::Completed(kept) => Rec { kind: Kind::Completed, owner: kept.payload[0], ..base },
            RecordState::Failed(kept) => Rec { kind: Kind::Failed, owner: kept.payload[0], ..base },
            other => unreachable!("a state that no world has: {other:?}"),
        }
    }
}

fn kept(of: u8) -> Kept {
    Kept { codec: Some(Codec::Json), payload: vec![of].into(), trace: None }
}

fn ticks(life: u64) -> u8 {
    if life >= UNCERTAIN_LINGER {
        return FOREVER;
    }
    assert_eq!(life % TICK, 0, "a life of whole ticks");
    small(life / TICK)
}

/// The grant that a worker was told of.
fn granted(question: &Question, claim: &Claim) -> Grant {
    let mut record = claim.first_record();
    record.fence = Fence::new(question.fence.into());
    record.attempt = question.attempt.into();
    if let RecordState::InFlight(claimed) = &mut record.state {
        claimed.origin = ORIGINS[usize::from(question.origin)];
    }
    Grant::of(&record).expect("a record in flight")
}

//! The server of a world: the pure functions of the protocol, fed with real requests and records.

use std::collections::HashMap;

use idem_core::Codec;
use idem_core::conformance::Intent;
use idem_core::protocol::{self, Stored, Write};
use idem_core::record::{Claimed, Fence, Kept, Origin, Record, State as RecordState, Token};
use idem_core::store::{Claim, ClaimReply, CompleteReply, Grant, ReleaseReply, RenewReply};

use super::hash::Fast;
use super::mutation::Mutation;
use super::state::{Kind, Rec, Request, TICK, Verb, Worker, World};

/// What a server answers, as far as a world tells replies apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reply {
    Acquired {
        fence: u8,
        attempt: u8,
        origin: u8,
    },
    InFlight {
        left: u64,
    },
    Replay {
        of: u8,
        fence: u8,
    },
    Mismatch,
    Stale,
    Renewed,
    Reasserted,
    Completed,
    Already,
    Restored,
    Absent,
    Lost,
    Released,
    Unchanged,
    /// No world has a record that cannot be read.
    Corrupt,
}

/// How a claim was won, in the order of [`origin`].
pub(crate) const RELEASED: u8 = 1;
pub(crate) const ORIGINS: [Origin; 4] = [Origin::First, Origin::Released, Origin::Takeover, Origin::AfterTakeover];

fn origin(origin: Origin) -> u8 {
    small(ORIGINS.iter().position(|known| *known == origin).expect("a known origin") as u64)
}

fn small(number: u64) -> u8 {
    u8::try_from(number).expect("a small number in a small world")
}

/// Everything that a decision depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Question {
    record: Rec,
    verb: Verb,
    from: u8,
    restore: bool,
    /// The fence, attempt and origin of the grant, or the proposed fence.
    carried: [u8; 4],
}

/// The server. The same question is put to the code once: the functions are pure.
pub(crate) struct Server {
    world: World,
    mutation: Option<Mutation>,
    intents: [Intent; 2],
    tokens: [Token; 3],
    /// A token that is nobody's.
    foreign: Token,
    decided: HashMap<Question, (Reply, Rec), Fast>,
}

/// The owner of a record with a foreign token.
pub(crate) const NOBODY: u8 = 3;

impl Server {
    pub(crate) fn new(world: World, mutation: Option<Mutation>) -> Self {
        let intent = Intent::of("model");
        let other = intent.with_other_arguments();
        let tokens = [(); 3].map(|()| Token::random());
        let foreign = Token::random();
        Self { world, mutation, intents: [intent, other], tokens, foreign, decided: HashMap::default() }
    }

    /// The answer to a request, and the record after it.
    pub(crate) fn decide(&mut self, record: Rec, request: Request, sender: &Worker) -> (Reply, Rec) {
        let carried = match request.verb {
            Verb::Claim => [sender.proposed, 0, 0, 0],
            Verb::Retract => [0; 4],
            _ => [0, sender.fence, sender.attempt, sender.origin],
        };
        let Request { verb, from, restore, .. } = request;
        let question = Question { record, verb, from, restore, carried };
        if let Some(known) = self.decided.get(&question) {
            return *known;
        }
        let decision = self.perturbed(&question);
        self.decided.insert(question, decision);
        decision
    }

    /// The decision of the code about what the mutation shows it, as the mutation lets it be seen.
    fn perturbed(&self, question: &Question) -> (Reply, Rec) {
        let Some(mutation) = self.mutation else { return self.ask(question, question.record) };
        let fingerprint = self.world.fingerprints[usize::from(question.from)];
        let shown = mutation.show(question.record, question.verb, question.from, question.carried[1], fingerprint);
        let restore = question.restore || mutation == Mutation::CompleteOverSettled;
        let (reply, after) = self.ask(&Question { restore, ..*question }, shown);
        let after = if after == shown { question.record } else { after };
        mutation.tamper(question.record, question.verb, question.carried[0], reply, after)
    }

    fn ask(&self, question: &Question, shown: Rec) -> (Reply, Rec) {
        let record = self.record(shown);
        let left = Some(u64::from(shown.left) * TICK);
        let stored = record.as_ref().map(|record| Stored { record, left });
        let [_, fence, attempt, origin] = question.carried;
        let intent = &self.intents[usize::from(self.world.fingerprints[usize::from(question.from)])];
        let claim = self.claim(question);
        let grant = granted(fence, attempt, origin, &claim);
        match question.verb {
            Verb::Claim => {
                let step = protocol::claim(stored, &claim);
                (from_claim(step.reply), self.after(shown, step.write))
            }
            Verb::Renew => {
                let step = protocol::renew(stored, &intent.renew(&claim, grant, question.restore));
                (from_renew(step.reply), self.after(shown, step.write))
            }
            Verb::Complete => {
                let mut request = intent.complete(&claim, grant, vec![question.from], question.restore);
                request.retention = claim.linger;
                let step = protocol::complete(stored, &request);
                (from_complete(step.reply), self.after(shown, step.write))
            }
            Verb::Release | Verb::Retract => {
                let mut request = intent.release(&claim, (question.verb == Verb::Release).then_some(grant));
                request.retention = claim.linger;
                let step = protocol::release(stored, &request);
                (from_release(step.reply), self.after(shown, step.write))
            }
            Verb::None => unreachable!("no request"),
        }
    }

    fn claim(&self, question: &Question) -> Claim {
        let intent = &self.intents[usize::from(self.world.fingerprints[usize::from(question.from)])];
        let mut claim = intent.claim_from(Fence::new(question.carried[0].into()));
        claim.token = self.tokens[usize::from(question.from)];
        claim.lease = self.world.lease_millis();
        claim.linger = u64::from(self.world.linger) * TICK;
        claim
    }

    fn record(&self, shown: Rec) -> Option<Record> {
        let token = self.tokens.get(usize::from(shown.owner)).copied().unwrap_or(self.foreign);
        let claimed = Claimed { token, floor: shown.floor.into(), origin: ORIGINS[usize::from(shown.origin)] };
        let state = match shown.kind {
            Kind::None => return None,
            Kind::InFlight => RecordState::InFlight(claimed),
            Kind::Released => RecordState::Released(claimed),
            Kind::Completed => {
                RecordState::Completed(Kept { codec: Some(Codec::Json), payload: vec![shown.owner].into() })
            }
        };
        Some(Record {
            fingerprint: self.intents[usize::from(shown.fingerprint)].fingerprint,
            fence: Fence::new(shown.fence.into()),
            attempt: shown.attempt.into(),
            state,
        })
    }

    fn after(&self, before: Rec, write: Write) -> Rec {
        match write {
            Write::Nothing => before,
            Write::Extend { life } => Rec { left: ticks(life), ..before },
            Write::Put { record, life } => Rec { left: ticks(life), ..self.seen(&record) },
        }
    }

    fn seen(&self, record: &Record) -> Rec {
        let other = record.fingerprint != self.intents[0].fingerprint;
        let fence = small(record.fence.get());
        let base = Rec { fence, attempt: small(record.attempt.into()), fingerprint: u8::from(other), ..Rec::NONE };
        let unfinished = |kind, claimed: &Claimed| {
            let owner = self.tokens.iter().position(|token| *token == claimed.token);
            let floor = u16::try_from(claimed.floor).expect("a small floor");
            let owner = owner.map_or(NOBODY, |owner| small(owner as u64));
            Rec { kind, owner, floor, origin: origin(claimed.origin), ..base }
        };
        match &record.state {
            RecordState::InFlight(claimed) => unfinished(Kind::InFlight, claimed),
            RecordState::Released(claimed) => unfinished(Kind::Released, claimed),
            RecordState::Completed(kept) => Rec { kind: Kind::Completed, owner: kept.payload[0], ..base },
            other => unreachable!("a state that no world has: {other:?}"),
        }
    }
}

fn ticks(life: u64) -> u8 {
    assert_eq!(life % TICK, 0, "a life of whole ticks");
    small(life / TICK)
}

/// The grant that a worker was told of.
fn granted(fence: u8, attempt: u8, origin: u8, claim: &Claim) -> Grant {
    let mut record = claim.first_record();
    record.fence = Fence::new(fence.into());
    record.attempt = attempt.into();
    if let RecordState::InFlight(claimed) = &mut record.state {
        claimed.origin = ORIGINS[usize::from(origin)];
    }
    Grant::of(&record).expect("a record in flight")
}

fn from_claim(reply: ClaimReply) -> Reply {
    match reply {
        ClaimReply::Acquired(grant) => Reply::Acquired {
            fence: small(grant.fence.get()),
            attempt: small(grant.attempt.into()),
            origin: origin(grant.origin),
        },
        ClaimReply::InFlight { left } => Reply::InFlight { left: u64::try_from(left.as_millis()).expect("a lease") },
        ClaimReply::Replay(known) => Reply::Replay { of: known.kept.payload[0], fence: small(known.fence.get()) },
        ClaimReply::Mismatch => Reply::Mismatch,
        ClaimReply::Stale => Reply::Stale,
        _ => Reply::Corrupt,
    }
}

fn from_renew(reply: RenewReply) -> Reply {
    match reply {
        RenewReply::Renewed => Reply::Renewed,
        RenewReply::Reasserted => Reply::Reasserted,
        RenewReply::Absent => Reply::Absent,
        RenewReply::Lost => Reply::Lost,
        _ => Reply::Corrupt,
    }
}

fn from_complete(reply: CompleteReply) -> Reply {
    match reply {
        CompleteReply::Completed => Reply::Completed,
        CompleteReply::Already => Reply::Already,
        CompleteReply::Restored => Reply::Restored,
        CompleteReply::Absent => Reply::Absent,
        CompleteReply::Lost => Reply::Lost,
        _ => Reply::Corrupt,
    }
}

fn from_release(reply: ReleaseReply) -> Reply {
    match reply {
        ReleaseReply::Released => Reply::Released,
        ReleaseReply::Unchanged => Reply::Unchanged,
        _ => Reply::Corrupt,
    }
}

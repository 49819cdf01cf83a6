//! The scripts and `protocol/` in lockstep: after every step of a random sequence, reply and stored record agree.
//!
//! Before each step the record and the rest of its life are read from the server and given to the pure function; so the
//! two start from the same state, whatever the server's clock did. Leases end, and records vanish or are damaged, by
//! commands of the test.

use bytes::Bytes;
use idem_core::conformance::Intent;
use idem_core::protocol::{self, Step, Stored, Write};
use idem_core::record::{Corrupt, Record, State};
use idem_core::store::{Claim, ClaimReply, CompleteReply, Grant, ReleaseReply, RenewReply, Store};
use idem_core::{Fence, Operation};
use idem_redis::RedisStore;
use proptest::prelude::*;
use test_support::{Client, RedisServer, Reply};

/// One step of a sequence. Claims are numbered as they are made; a later step names one of those.
#[derive(Debug, Clone)]
enum Action {
    Claim { other_arguments: bool, proposed: u64 },
    Repeat { of: usize },
    Renew { of: usize, restore: bool },
    Complete { of: usize, restore: bool },
    Release { of: usize, answered: bool },
    LeaseEnds,
    Vanishes,
    LosesItsExpiry,
    IsDamaged { at: usize, byte: u8 },
    IsOverwritten { value: Vec<u8> },
}

fn action() -> impl Strategy<Value = Action> {
    let of = 0_usize..5;
    let byte =
        prop_oneof![any::<u8>(), Just(b'z'), Just(b'-'), Just(b'2'), Just(b'R'), Just(b'I'), Just(b't'), Just(b'x')];
    prop_oneof![
        4 => (prop::bool::weighted(0.1), prop_oneof![any::<u64>(), Just(0), Just(u64::MAX), 9_007_199_254_740_990..9_007_199_254_740_999_u64])
            .prop_map(|(other_arguments, proposed)| Action::Claim { other_arguments, proposed }),
        3 => of.clone().prop_map(|of| Action::Repeat { of }),
        2 => (of.clone(), any::<bool>()).prop_map(|(of, restore)| Action::Renew { of, restore }),
        2 => (of.clone(), any::<bool>()).prop_map(|(of, restore)| Action::Complete { of, restore }),
        2 => (of, any::<bool>()).prop_map(|(of, answered)| Action::Release { of, answered }),
        5 => Just(Action::LeaseEnds),
        1 => Just(Action::Vanishes),
        1 => Just(Action::LosesItsExpiry),
        1 => (prop_oneof![0_usize..80, 0_usize..6, Just(2), Just(99)], byte).prop_map(|(at, byte)| Action::IsDamaged { at, byte }),
        1 => prop_oneof![Just(vec![]), Just(b"2C".to_vec()), Just(b"2Cj1".to_vec()), prop::collection::vec(any::<u8>(), 0..90)]
            .prop_map(|value| Action::IsOverwritten { value }),
    ]
}

/// What the server holds.
#[derive(Debug, Clone, PartialEq)]
struct Held {
    raw: Option<Vec<u8>>,
    left: i64,
}

struct World {
    runtime: tokio::runtime::Runtime,
    store: RedisStore,
    raw: Client,
    key: String,
    intent: Intent,
    claims: Vec<(Claim, Option<Grant>)>,
}

impl World {
    fn held(&mut self) -> Held {
        let raw = match self.raw.call(&["GET", &self.key]).expect("GET") {
            Reply::Bulk(raw) => raw,
            other => panic!("{other:?}"),
        };
        let left = self.raw.call(&["PTTL", &self.key]).expect("PTTL").int().expect("an integer");
        Held { raw, left }
    }

    fn act(&mut self, action: Action) {
        let before = self.held();
        match action {
            Action::Claim { other_arguments, proposed } => {
                let intent = if other_arguments { self.intent.with_other_arguments() } else { self.intent.clone() };
                let claim = intent.claim_from(Fence::new(proposed));
                self.claim(claim, &before);
            }
            Action::Repeat { of } => {
                if let Some((claim, _)) = self.claims.get(of).cloned() {
                    self.claim(claim, &before);
                }
            }
            Action::Renew { of, restore } => {
                if let Some((claim, Some(grant))) = self.claims.get(of).cloned() {
                    let request = self.intent.renew(&claim, grant, restore);
                    let reply = self.runtime.block_on(self.store.renew(&request)).expect("an answer");
                    self.agree(&before, reply, RenewReply::Lost, RenewReply::Corrupt, |stored| {
                        protocol::renew(stored, &request)
                    });
                }
            }
            Action::Complete { of, restore } => {
                if let Some((claim, Some(grant))) = self.claims.get(of).cloned() {
                    let request = self.intent.complete(&claim, grant, &b"\"result\""[..], restore);
                    let reply = self.runtime.block_on(self.store.complete(&request)).expect("an answer");
                    self.agree(&before, reply, CompleteReply::Lost, CompleteReply::Corrupt, |stored| {
                        protocol::complete(stored, &request)
                    });
                }
            }
            Action::Release { of, answered } => {
                if let Some((claim, grant)) = self.claims.get(of).cloned() {
                    let request = self.intent.release(&claim, grant.filter(|_| answered));
                    let reply = self.runtime.block_on(self.store.release(&request)).expect("an answer");
                    self.agree(&before, reply, ReleaseReply::Unchanged, ReleaseReply::Corrupt, |stored| {
                        protocol::release(stored, &request)
                    });
                }
            }
            disturbance => self.disturb(&disturbance, before),
        }
    }

    fn claim(&mut self, claim: Claim, before: &Held) {
        let reply = self.runtime.block_on(self.store.claim(&claim)).expect("an answer");
        let corrupt = ClaimReply::Corrupt;
        self.agree(before, reply.clone(), corrupt(Corrupt::UnknownVersion), corrupt, |stored| {
            protocol::claim(stored, &claim)
        });
        let grant = if let ClaimReply::Acquired(grant) = reply { Some(grant) } else { None };
        self.claims.push((claim, grant));
    }

    /// Holds a reply and what is stored now against what the pure function says of what was stored before.
    fn agree<R: std::fmt::Debug + PartialEq>(
        &mut self,
        before: &Held,
        reply: R,
        newer_release: R,
        corrupt: impl Fn(Corrupt) -> R,
        decide: impl FnOnce(Option<Stored<'_>>) -> Step<R>,
    ) {
        let after = self.held();
        let record = before.raw.as_ref().map(|raw| Record::from_bytes(&Bytes::from(raw.clone())));
        let left = u64::try_from(before.left).ok();
        let step = match &record {
            None => decide(None),
            Some(Ok(record)) => decide(Some(Stored { record, left })),
            Some(Err(Corrupt::UnknownCodec)) => {
                let record = with_known_codec(before);
                let step = decide(Some(Stored { record: &record, left }));
                // Of what cannot be decoded, only the replay fails.
                if format!("{:?}", step.reply).starts_with("Replay") {
                    Step { reply: corrupt(Corrupt::UnknownCodec), ..step }
                } else {
                    step
                }
            }
            Some(Err(Corrupt::UnknownVersion)) => Step { reply: newer_release, write: Write::Nothing },
            Some(Err(why)) => Step { reply: corrupt(*why), write: Write::Nothing },
        };
        assert_eq!(without_time(reply), without_time(step.reply), "the reply to {before:?}");
        let (raw, life) = match step.write {
            Write::Nothing => (before.raw.clone(), before.left),
            Write::Put { record, life } => (Some(record.to_bytes().to_vec()), i64::try_from(life).expect("a life")),
            Write::Extend { life } => (before.raw.clone(), i64::try_from(life).expect("a life")),
        };
        assert_eq!(after.raw, raw, "stored after {before:?}");
        assert!((life - 5_000..=life).contains(&after.left), "{} is left of {life}", after.left);
    }

    fn disturb(&mut self, disturbance: &Action, before: Held) {
        let Some(raw) = before.raw else { return };
        match disturbance {
            Action::LeaseEnds => {
                // To just at the floor: the lease is over exactly there.
                if let Ok(Record { state: State::InFlight(claimed), .. }) = Record::from_bytes(&raw.into()) {
                    self.send(&["PEXPIRE", &self.key.clone(), &claimed.floor.max(10_000).to_string()]);
                }
            }
            Action::Vanishes => self.send(&["DEL", &self.key.clone()]),
            Action::LosesItsExpiry => self.send(&["PERSIST", &self.key.clone()]),
            Action::IsDamaged { at, byte } => {
                let mut raw = raw;
                match raw.get_mut(*at) {
                    Some(place) => *place = *byte,
                    None => raw.push(*byte),
                }
                self.overwrite(&raw);
            }
            Action::IsOverwritten { value } => self.overwrite(value),
            other => unreachable!("{other:?} is a verb"),
        }
    }

    fn overwrite(&mut self, raw: &[u8]) {
        let key = self.key.clone();
        self.raw.call(&[b"SET", key.as_bytes(), raw, b"KEEPTTL"]).expect("SET");
    }

    fn send(&mut self, words: &[&str]) {
        self.raw.call(words).expect("an answer");
    }
}

/// A record whose codec nobody here knows, as the protocol sees it: with another codec than any completion here has. Else
/// codecs are all alike to it.
fn with_known_codec(held: &Held) -> Record {
    let mut raw = held.raw.clone().expect("a record");
    raw[2] = b'-';
    Record::from_bytes(&raw.into()).expect("readable but for its codec")
}

/// What is left of a lease goes on falling between the look and the step; that it is in flight must agree.
fn without_time<R: std::fmt::Debug>(reply: R) -> String {
    let reply = format!("{reply:?}");
    if reply.starts_with("InFlight") { "InFlight".to_owned() } else { reply }
}

fn world(server: &RedisServer, case: u32, fast_claim: bool) -> World {
    let intent = Intent::of(&format!("case {case}"));
    let key = key(&intent.operation);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let pool = deadpool_redis::Config::from_url(server.url()).create_pool(Some(deadpool_redis::Runtime::Tokio1));
    let store = RedisStore::builder(pool.expect("a pool")).fast_claim(fast_claim).build().expect("a prefix");
    World { runtime, store, raw: server.client().expect("a client"), key, intent, claims: Vec::new() }
}

fn key(operation: &Operation) -> String {
    format!("idem:{{{}}}", operation.text())
}

#[test]
fn fast_claim_and_scripts_agree_with_the_protocol_at_every_step() {
    in_lockstep(true);
}

#[test]
fn scripts_alone_agree_with_the_protocol_at_every_step() {
    in_lockstep(false);
}

fn in_lockstep(fast_claim: bool) {
    let server = RedisServer::start().expect("a private redis-server");
    let case = std::cell::Cell::new(0);
    let config = ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(actions in prop::collection::vec(action(), 1..40))| {
        case.set(case.get() + 1);
        let mut world = world(&server, case.get(), fast_claim);
        for action in actions {
            world.act(action);
        }
    });
}

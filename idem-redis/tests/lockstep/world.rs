//! One identity on a server, and what is held against what after each step.

use std::collections::BTreeSet;

use bytes::Bytes;
use idem_core::conformance::Intent;
use idem_core::protocol::{self, Step, Stored, Write};
use idem_core::record::{Corrupt, Kept, Record, State, attempt_text};
use idem_core::store::{
    Claim, ClaimReply, CompleteReply, ForgetReply, GivenUp, Grant, InspectReply, ReleaseReply, RenewReply, SettleReply,
    Settlement, Store,
};
use idem_core::{Codec, Fence};
use idem_redis::RedisStore;
use test_support::{Client, RedisServer, Reply};

use crate::action::{self, Action, Claiming, Disturbance, Seen};
use crate::untimed::Untimed;

/// What the server holds.
#[derive(Debug, Clone, PartialEq)]
struct Held {
    raw: Option<Vec<u8>>,
    left: i64,
}

pub(crate) struct World<'a> {
    runtime: tokio::runtime::Runtime,
    store: RedisStore,
    raw: Client,
    key: String,
    intent: Intent,
    claims: Vec<(Claim, Option<Grant>)>,
    past: Vec<Held>,
    latest: Option<Action>,
    /// Every reply that was met, as `verb word`.
    met: &'a mut BTreeSet<String>,
}

/// Of another length than any linger, so that a life tells which it was.
const RETENTION: u64 = 90_000;

impl<'a> World<'a> {
    pub(crate) fn new(server: &RedisServer, case: u32, fast_claim: bool, met: &'a mut BTreeSet<String>) -> Self {
        let intent = Intent::of(&format!("case {case}"));
        let key = format!("idem:{{{}}}", intent.operation.text());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let pool = deadpool_redis::Config::from_url(server.url()).create_pool(Some(deadpool_redis::Runtime::Tokio1));
        let store = RedisStore::builder(pool.expect("a pool")).fast_claim(fast_claim).build().expect("a prefix");
        let raw = server.client().expect("a client");
        Self { runtime, store, raw, key, intent, claims: Vec::new(), past: Vec::new(), latest: None, met }
    }

    pub(crate) fn act(&mut self, action: Action) {
        let action = match action {
            Action::Again => self.latest.clone().unwrap_or(Action::Inspect),
            other => other,
        };
        let before = self.held();
        self.past.push(before.clone());
        if !matches!(action, Action::Claim(_) | Action::Repeat { .. } | Action::Disturb(_)) {
            self.latest = Some(action.clone());
        }
        match action {
            Action::Again => unreachable!("it was another action before"),
            Action::Claim(claiming) => self.claim(self.new_claim(&claiming), &before),
            Action::Repeat { of } => {
                if let Some((claim, _)) = self.nth(of) {
                    self.claim(claim, &before);
                }
            }
            Action::Renew { of, restore } => self.renew(of, restore, &before),
            Action::Complete { of, restore, result } => self.complete(of, restore, &result, &before),
            Action::Release { of, answered, given_up } => self.release(of, answered, given_up, &before),
            Action::Settle { seen, result } => self.settle(&seen, result.as_ref(), &before),
            Action::Forget { seen, force } => self.forget(&seen, force, &before),
            Action::Inspect => self.inspect(&before),
            Action::Disturb(disturbance) => self.disturb(&disturbance, before),
        }
    }

    /// The claim that was made so many claims ago.
    fn nth(&self, of: usize) -> Option<(Claim, Option<Grant>)> {
        self.claims.iter().rev().nth(of).cloned()
    }

    /// The claim that was won so many wins ago.
    fn won(&self, of: usize) -> Option<(Claim, Grant)> {
        self.claims.iter().rev().filter_map(|(claim, grant)| Some((claim.clone(), (*grant)?))).nth(of)
    }

    fn new_claim(&self, claiming: &Claiming) -> Claim {
        let intent = if claiming.other_arguments { self.intent.with_other_arguments() } else { self.intent.clone() };
        let mut claim = intent.claim_from(Fence::new(claiming.proposed));
        (claim.lease, claim.linger) = (claiming.lease, claiming.linger);
        (claim.on_crash, claim.max_attempts) = (claiming.on_crash, claiming.max_attempts);
        claim
    }

    fn claim(&mut self, claim: Claim, before: &Held) {
        let reply = self.runtime.block_on(self.store.claim(&claim)).expect("an answer");
        let corrupt = ClaimReply::Corrupt;
        self.agree("claim", before, reply.clone(), corrupt(Corrupt::UnknownVersion), corrupt, |stored| {
            protocol::claim(stored, &claim)
        });
        let grant = if let ClaimReply::Acquired(grant) = reply { Some(grant) } else { None };
        self.claims.push((claim, grant));
    }

    fn renew(&mut self, of: usize, restore: bool, before: &Held) {
        let Some((claim, grant)) = self.won(of) else { return };
        let request = self.intent.renew(&claim, grant, restore);
        let reply = self.runtime.block_on(self.store.renew(&request)).expect("an answer");
        self.agree("renew", before, reply, RenewReply::Lost, RenewReply::Corrupt, |stored| {
            protocol::renew(stored, &request)
        });
    }

    fn complete(&mut self, of: usize, restore: bool, result: &action::Result, before: &Held) {
        let Some((claim, grant)) = self.won(of) else { return };
        let mut request = self.intent.complete(&claim, grant, result.payload, restore);
        (request.ending, request.retention) = (result.ending, RETENTION);
        let reply = self.runtime.block_on(self.store.complete(&request)).expect("an answer");
        self.agree("complete", before, reply, CompleteReply::Lost, CompleteReply::Corrupt, |stored| {
            protocol::complete(stored, &request)
        });
    }

    fn release(&mut self, of: usize, answered: bool, given_up: GivenUp, before: &Held) {
        let Some((claim, grant)) = self.nth(of) else { return };
        let mut request = self.intent.release(&claim, grant.filter(|_| answered));
        (request.given_up, request.retention) = (given_up, RETENTION);
        let reply = self.runtime.block_on(self.store.release(&request)).expect("an answer");
        self.agree("release", before, reply, ReleaseReply::Unchanged, ReleaseReply::Corrupt, |stored| {
            protocol::release(stored, &request)
        });
    }

    fn settle(&mut self, seen: &Seen, result: Option<&action::Result>, before: &Held) {
        let kept = |payload| Kept { codec: Some(Codec::Json), payload: Bytes::from_static(payload), trace: None };
        let settlement = result
            .map_or(Settlement::RunAgain, |result| Settlement::Ended(result.ending, kept(result.payload.as_bytes())));
        let mut request = self.intent.settle(self.fence(seen, before), settlement);
        request.retention = RETENTION;
        let reply = self.runtime.block_on(self.store.settle(&request)).expect("an answer");
        let corrupt = SettleReply::Corrupt;
        self.agree("settle", before, reply, corrupt(Corrupt::UnknownVersion), corrupt, |stored| {
            protocol::settle(stored, &request)
        });
    }

    fn forget(&mut self, seen: &Seen, force: bool, before: &Held) {
        let mut request = self.intent.forget(self.fence(seen, before), force);
        request.retention = RETENTION;
        let reply = self.runtime.block_on(self.store.forget(&request)).expect("an answer");
        let corrupt = ForgetReply::Corrupt;
        self.agree("forget", before, reply, corrupt(Corrupt::UnknownVersion), corrupt, |stored| {
            protocol::forget(stored, &request)
        });
    }

    fn inspect(&mut self, before: &Held) {
        let reply = self.runtime.block_on(self.store.inspect(&self.intent.operation)).expect("an answer");
        let corrupt = InspectReply::Corrupt;
        self.agree("inspect", before, reply, corrupt(Corrupt::UnknownVersion), corrupt, |stored| Step {
            reply: protocol::inspect(stored),
            write: Write::Nothing,
        });
    }

    /// The fence that a person has seen: the record's, or that of an earlier claim.
    fn fence(&self, seen: &Seen, before: &Held) -> Fence {
        let fence = match seen {
            Seen::Now => before.raw.clone().and_then(|raw| Record::from_bytes(&raw.into()).ok()).map(|now| now.fence),
            Seen::Earlier { of } => self.won(*of).map(|(_, grant)| grant.fence),
        };
        fence.unwrap_or(Fence::new(7))
    }

    /// Holds a reply and what is stored now against what the pure function says of what was stored before.
    fn agree<R: Untimed>(
        &mut self,
        verb: &str,
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
                if step.reply.word() == "Replay" {
                    Step { reply: corrupt(Corrupt::UnknownCodec), ..step }
                } else {
                    step
                }
            }
            Some(Err(Corrupt::UnknownVersion)) => Step { reply: newer_release, write: Write::Nothing },
            Some(Err(why)) => Step { reply: corrupt(*why), write: Write::Nothing },
        };
        self.met.insert(format!("{verb} {}", reply.word()));
        let ((reply, told), (right_reply, right)) = (reply.untimed(), step.reply.untimed());
        assert_eq!(reply, right_reply, "{verb} of {before:?}");
        for (told, right) in told.iter().zip(&right) {
            assert!(told.abs_diff(*right).as_secs() < 5, "{verb} told {told:?}, not {right:?}, of {before:?}");
        }
        let in_ms = |life: u64| i64::try_from(life).expect("a life");
        let (raw, life) = match step.write {
            Write::Nothing => (before.raw.clone(), before.left),
            Write::Put { record, life } => (Some(record.to_bytes().to_vec()), in_ms(life)),
            Write::Extend { life } => (before.raw.clone(), in_ms(life)),
            Write::Delete => (None, -2),
        };
        assert_eq!(after.raw, raw, "stored by {verb} after {before:?}");
        assert!((life - 5_000..=life).contains(&after.left), "{} is left of {life} after {verb}", after.left);
    }

    fn disturb(&mut self, disturbance: &Disturbance, before: Held) {
        if let Disturbance::GoesBack { by } = disturbance {
            if let Some(held) = self.past.iter().rev().nth(*by).cloned() {
                self.put_back(&held);
            }
            return;
        }
        let Some(mut raw) = before.raw else { return };
        match disturbance {
            Disturbance::LeaseEnds => {
                // To just at the floor: the lease is over exactly there.
                if let Ok(Record { state: State::InFlight(claimed), .. }) = Record::from_bytes(&raw.into()) {
                    self.send(&["PEXPIRE", &self.key.clone(), &claimed.floor.max(10_000).to_string()]);
                }
                return;
            }
            Disturbance::Vanishes => return self.send(&["DEL", &self.key.clone()]),
            Disturbance::LosesItsExpiry => return self.send(&["PERSIST", &self.key.clone()]),
            Disturbance::CountsToTheEnd => {
                if let Some(place) = raw.get_mut(15..18) {
                    place.copy_from_slice(b"zzz");
                }
            }
            Disturbance::IsAround { of, fence, attempt } => {
                if let (Some((_, grant)), Some(place)) = (self.won(*of), raw.get_mut(4..18)) {
                    let fence = Fence::new(grant.fence.get().saturating_add_signed((*fence).into()));
                    place[..11].copy_from_slice(&fence.to_text());
                    place[11..].copy_from_slice(&attempt_text(grant.attempt.saturating_add_signed((*attempt).into())));
                }
            }
            Disturbance::IsWonAs { origin } => {
                if let Some(place) = raw.get_mut(75) {
                    *place = *origin;
                }
            }
            Disturbance::IsCut { to } => raw.truncate(*to),
            Disturbance::IsDamaged { at, byte } => match raw.get_mut(*at) {
                Some(place) => *place = *byte,
                None => raw.push(*byte),
            },
            Disturbance::IsRelabelled { state, blank } => relabel(&mut raw, *state, *blank),
            Disturbance::IsOverwritten { value } => raw.clone_from(value),
            Disturbance::GoesBack { .. } => unreachable!("done above"),
        }
        self.raw.call(&[b"SET", self.key.as_bytes(), &raw, b"KEEPTTL"]).expect("SET");
    }

    fn held(&mut self) -> Held {
        let raw = match self.raw.call(&["GET", &self.key]).expect("GET") {
            Reply::Bulk(raw) => raw,
            other => panic!("{other:?}"),
        };
        let left = self.raw.call(&["PTTL", &self.key]).expect("PTTL").int().expect("an integer");
        Held { raw, left }
    }

    fn put_back(&mut self, held: &Held) {
        let left = held.left.to_string();
        let key = self.key.clone();
        match &held.raw {
            None => self.send(&["DEL", &key]),
            Some(raw) if held.left > 0 => {
                self.raw.call(&[b"SET", key.as_bytes(), raw, b"PX", left.as_bytes()]).expect("SET");
            }
            Some(raw) => drop(self.raw.call(&[b"SET", key.as_bytes(), raw]).expect("SET")),
        }
    }

    fn send(&mut self, words: &[&str]) {
        self.raw.call(words).expect("an answer");
    }
}

/// The same record in another state, and perhaps with no scheme and so many blank digits for a fingerprint.
fn relabel(raw: &mut [u8], state: u8, blank: Option<usize>) {
    if let Some(letter) = raw.get_mut(1) {
        *letter = state;
    }
    if let (Some(blank), true) = (blank, raw.len() >= 40) {
        raw[3] = b'-';
        raw[40 - blank..40].fill(b'-');
    }
}

/// A record whose codec nobody here knows, as the protocol sees it: with another codec than any result here has. Else
/// codecs are all alike to it.
fn with_known_codec(held: &Held) -> Record {
    let mut raw = held.raw.clone().expect("a record");
    raw[2] = b'-';
    Record::from_bytes(&raw.into()).expect("readable but for its codec")
}

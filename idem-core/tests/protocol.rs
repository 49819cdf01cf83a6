//! The pure functions at their edges, where a store's clock is hard to catch.
#![cfg(feature = "conformance")]

use std::time::Duration;

use idem_core::conformance::Intent;
use idem_core::protocol::{self, Step, Stored, Write};
use idem_core::record::{Origin, Record, State};
use idem_core::store::{Claim, ClaimReply, OnCrash, ReleaseReply, RenewReply};

/// What is left of a claim's record when its lease is just over.
fn floor(claim: &Claim) -> u64 {
    claim.linger - claim.lease - 2
}

fn written<R>(step: Step<R>) -> (Record, u64) {
    match step.write {
        Write::Put { record, life } => (record, life),
        other => panic!("a record is written, not {other:?}"),
    }
}

#[test]
fn a_lease_is_over_exactly_at_the_floor() {
    let intent = Intent::of("edge");
    let claim = intent.claim();
    let (record, life) = written(protocol::claim(None, &claim));
    assert_eq!(life, claim.linger);
    let met = |left| protocol::claim(Some(Stored { record: &record, left: Some(left) }), &intent.claim()).reply;
    assert_eq!(met(floor(&claim) + 1), ClaimReply::InFlight { left: Duration::from_millis(1) });
    for over in [floor(&claim), floor(&claim) - 1, 0] {
        assert!(matches!(met(over), ClaimReply::Acquired(grant) if grant.origin == Origin::Takeover));
    }
}

#[test]
fn nobody_is_told_to_wait_longer_than_a_lease_of_its_own() {
    let intent = Intent::of("edge");
    let mut holder = intent.claim();
    (holder.lease, holder.linger) = (10_000, 60_000);
    let (record, life) = written(protocol::claim(None, &holder));
    let mut caller = intent.claim();
    for (lease, told) in [(150, 150), (9_000, 9_000), (30_000, 10_002)] {
        caller.lease = lease;
        let reply = protocol::claim(Some(Stored { record: &record, left: Some(life) }), &caller).reply;
        assert_eq!(reply, ClaimReply::InFlight { left: Duration::from_millis(told) });
    }
}

#[test]
fn a_takeover_is_remembered_until_an_attempt_completes() {
    let intent = Intent::of("edge");
    let first = intent.claim();
    let (record, _) = written(protocol::claim(None, &first));
    let over = Some(Stored { record: &record, left: Some(floor(&first)) });
    let second = intent.claim();
    let ClaimReply::Acquired(grant) = protocol::claim(over, &second).reply else { panic!("a takeover") };
    let (taken_over, life) = written(protocol::claim(over, &second));

    for (ran, expected) in [(None, Origin::Takeover), (Some(grant), Origin::AfterTakeover)] {
        let held = Some(Stored { record: &taken_over, left: Some(life) });
        let (released, life) = written(protocol::release(held, &intent.release(&second, ran)));
        let third = protocol::claim(Some(Stored { record: &released, left: Some(life) }), &intent.claim()).reply;
        assert!(matches!(third, ClaimReply::Acquired(grant) if grant.origin == expected && grant.attempt == 3));
        assert!(expected.follows_takeover());
    }
}

/// A claim that was won by a takeover, and let go before anything ran under it: the crash before is the next caller's.
#[test]
fn a_takeover_that_was_let_go_leaves_its_crash_to_who_comes_next() {
    let intent = Intent::of("edge");
    let first = intent.claim();
    let (record, _) = written(protocol::claim(None, &first));
    let second = intent.claim();
    let (taken_over, life) =
        written(protocol::claim(Some(Stored { record: &record, left: Some(floor(&first)) }), &second));
    let held = Some(Stored { record: &taken_over, left: Some(life) });
    let (released, life) = written(protocol::release(held, &intent.release(&second, None)));
    let met = |on_crash| {
        let mut third = intent.claim();
        third.on_crash = on_crash;
        protocol::claim(Some(Stored { record: &released, left: Some(life) }), &third)
    };
    let won =
        |step: Step<ClaimReply>, origin| matches!(step.reply, ClaimReply::Acquired(grant) if grant.origin == origin);
    assert!(won(met(OnCrash::Rerun), Origin::Takeover));
    assert!(won(met(OnCrash::Recover), Origin::Doubt));
    let (declared, life) = written(met(OnCrash::Refuse));
    assert!(matches!(declared.state, State::Uncertain(_)));

    // Who took over never ran, and so cannot say what became of the attempt before.
    let late = protocol::release(Some(Stored { record: &declared, left: Some(life) }), &intent.release(&second, None));
    assert_eq!(late.reply, ReleaseReply::Uncertain);

    let mut limited = intent.claim();
    limited.max_attempts = Some(2);
    let refused = protocol::claim(Some(Stored { record: &released, left: Some(life) }), &limited);
    assert_eq!(refused, Step { reply: ClaimReply::Exhausted { crashed: true }, write: Write::Nothing });
}

/// The server went back in time, and somebody claimed since.
#[test]
fn a_renewal_over_an_earlier_claim_forgets_no_doubt() {
    let intent = Intent::of("edge");
    let earlier = intent.claim();
    let (record, _) = written(protocol::claim(None, &earlier));
    let over = Some(Stored { record: &record, left: Some(floor(&earlier)) });
    let mut released = record.clone();
    released.state = State::Released(*record.state.claimed().expect("a claim"));
    let later = intent.claim();
    let stored = Some(Stored { record: &released, left: Some(later.linger) });
    let ClaimReply::Acquired(grant) = protocol::claim(stored, &later).reply else { panic!("a claim after a release") };
    let renewal = intent.renew(&later, grant, true);

    let step = protocol::renew(over, &renewal);
    assert_eq!(step.reply, RenewReply::Reasserted);
    let (written_again, _) = written(step);
    assert!(written_again.state.claimed().is_some_and(|claimed| claimed.origin == Origin::AfterTakeover));

    let mut uncertain = record.clone();
    uncertain.state = State::Uncertain(*record.state.claimed().expect("a claim"));
    let stored = Some(Stored { record: &uncertain, left: Some(later.linger) });
    assert_eq!(protocol::renew(stored, &renewal), Step { reply: RenewReply::Lost, write: Write::Nothing });
}

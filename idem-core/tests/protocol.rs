//! The pure functions at their edges, where a store's clock is hard to catch.
#![cfg(feature = "conformance")]

use std::time::Duration;

use idem_core::conformance::Intent;
use idem_core::protocol::{self, Step, Stored, Write};
use idem_core::record::{Origin, Record};
use idem_core::store::{Claim, ClaimReply};

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

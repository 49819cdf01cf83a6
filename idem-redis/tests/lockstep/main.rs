//! The scripts and `protocol/` in lockstep: after every step of a random sequence, reply and stored record agree.
//!
//! Before each step the record and the rest of its life are read from the server and given to the pure function; so the
//! two start from the same state, whatever the server's clock did. Leases end, records vanish, come back from an earlier
//! time or are damaged, by commands of the test.

mod action;
mod untimed;
mod world;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use proptest::prelude::*;
use test_support::RedisServer;

use action::sequence;
use world::World;

#[test]
fn fast_claim_and_scripts_agree_with_the_protocol_at_every_step() {
    in_lockstep(true);
}

#[test]
fn scripts_alone_agree_with_the_protocol_at_every_step() {
    in_lockstep(false);
}

/// What the sequences must have met, so that no agreement is an empty one.
const REPLIES: [(&str, &str); 7] = [
    ("claim", "Acquired InFlight Replay Mismatch Stale Uncertain Exhausted Corrupt"),
    ("renew", "Renewed Reasserted Uncertain Absent Lost Corrupt"),
    ("complete", "Completed Already Restored Absent Lost Corrupt"),
    ("release", "Released Uncertain Unchanged Corrupt"),
    ("settle", "Settled Live Changed Absent Corrupt"),
    ("forget", "Deleted Released Live Changed Absent Corrupt"),
    ("inspect", "InFlight Abandoned Released Uncertain Completed Failed Absent Corrupt"),
];

fn in_lockstep(fast_claim: bool) {
    let server = RedisServer::start().expect("a private redis-server");
    let case = Cell::new(0);
    let met = RefCell::new(BTreeSet::new());
    let config = ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(actions in sequence())| {
        case.set(case.get() + 1);
        let mut met = met.borrow_mut();
        let mut world = World::new(&server, case.get(), fast_claim, &mut met);
        for action in actions {
            world.act(action);
        }
    });
    let met = met.into_inner();
    for (verb, words) in REPLIES {
        for word in words.split(' ') {
            assert!(met.contains(&format!("{verb} {word}")), "{verb} was never answered with {word}");
        }
    }
}

//! Every state of small worlds: the protocol's pure functions, and workers whose messages are late, lost, doubled and out
//! of order. A violated invariant is reported with the steps that led to it.
#![cfg(feature = "conformance")]

#[path = "model/explore.rs"]
mod explore;
#[path = "model/hash.rs"]
mod hash;
#[path = "model/mutation.rs"]
mod mutation;
#[path = "model/server.rs"]
mod server;
#[path = "model/state.rs"]
mod state;
#[path = "model/steps.rs"]
mod steps;
#[path = "model/watch.rs"]
mod watch;

use explore::{Report, Violation, explore};
use mutation::Mutation;
use state::World;

/// Explores `world`, which must show nothing forbidden and be as large as it was thought to be.
#[track_caller]
fn holds(world: World, least: usize) -> String {
    match explore(world, None) {
        Ok(Report { states, edges, took }) => {
            assert!(states >= least, "only {states} states: does this world still say anything?");
            format!("{states} states, {edges} steps, {took:?}")
        }
        Err(Violation { what, trace, states }) => panic!("{what}, after {states} states:\n{trace}"),
    }
}

const REPEATING: World = World { claims: 2, renews: 1, completions: 2, releases: 2, ..World::LEAN };
const RENEWING: World = World { renews: 2, ..World::LEAN };
const LONG: World = World { lease: 3, linger: 6, renews: 1, completions: 2, ..World::LEAN };
const THREE: World = World { workers: 3, lease: 1, linger: 2, ..World::LEAN };
const THREE_REPEATING: World = World { claims: 2, ..THREE };
const THREE_RENEWING: World = World { renews: 1, ..THREE };
const MISMATCHING: World = World { fingerprints: [0, 1, 0], ..THREE };
const SKEWED: World = World { skew: [3, 0, 3], ..THREE };
// Fences are microseconds: where the record goes, and its fence with it, claims are more than one apart.
const VANISHING: World = World { vanishes: true, renews: 1, completions: 2, pace: 4, ..World::LEAN };
const THREE_VANISHING: World = World { vanishes: true, pace: 4, ..MISMATCHING };
const EXPIRING: World = World { expires: true, renews: 1, lease: 1, linger: 3, pace: 4, ..World::LEAN };
const THREE_EXPIRING: World = World { workers: 3, renews: 0, ..EXPIRING };

#[test]
fn two_workers_that_repeat_what_was_not_answered() {
    println!("{}", holds(REPEATING, 240_000));
}

#[test]
fn two_workers_that_renew() {
    println!("{}", holds(RENEWING, 59_000));
}

#[test]
fn two_workers_with_a_longer_lease() {
    println!("{}", holds(LONG, 37_000));
}

#[test]
fn three_workers() {
    println!("{}", holds(THREE, 20_000));
}

#[test]
fn three_workers_that_repeat_their_claims() {
    println!("{}", holds(THREE_REPEATING, 530_000));
}

#[test]
fn three_workers_that_renew() {
    println!("{}", holds(THREE_RENEWING, 230_000));
}

#[test]
fn three_workers_of_which_one_has_other_arguments() {
    println!("{}", holds(MISMATCHING, 38_000));
}

#[test]
fn three_workers_whose_clocks_differ() {
    println!("{}", holds(SKEWED, 110_000));
}

#[test]
fn two_workers_and_a_record_that_is_lost() {
    println!("{}", holds(VANISHING, 87_000));
}

#[test]
fn three_workers_other_arguments_and_a_record_that_is_lost() {
    println!("{}", holds(THREE_VANISHING, 180_000));
}

#[test]
fn two_workers_and_a_record_that_expires() {
    println!("{}", holds(EXPIRING, 35_000));
}

#[test]
fn three_workers_and_a_record_that_expires() {
    println!("{}", holds(THREE_EXPIRING, 290_000));
}

/// A fence is unique only while its record is there: two claims of one microsecond, and a loss between them. Whoever lost
/// its record must not be told that its result is kept because another's of the same fence is.
#[test]
fn after_a_loss_a_claim_of_the_same_fence_is_not_taken_for_ones_own() {
    println!("{}", holds(World { workers: 2, skew: [0, 1, 0], vanishes: true, ..World::LEAN }, 1));
}

const MUTATIONS: &[(&str, Mutation, World)] = &[
    ("a claim that sees no record", Mutation::ClaimSeesNothing, THREE),
    ("a live lease is taken over", Mutation::LiveLeaseTakenOver, THREE),
    ("a claim does not recognise its own token", Mutation::OwnTokenNotRecognised, REPEATING),
    ("a released token wins again", Mutation::StaleTokenGranted, REPEATING),
    ("the fence is the proposed one only", Mutation::ProposedFenceOnly, SKEWED),
    ("the attempt is not carried on", Mutation::AttemptNotCarriedOn, THREE),
    ("fingerprints are not compared", Mutation::FingerprintUnchecked, MISMATCHING),
    ("a takeover is called a release", Mutation::TakeoverUntold, THREE),
    ("anybody renews", Mutation::RenewAnybody, VANISHING),
    ("a token renews without its fence", Mutation::RenewByTokenAlone, REPEATING),
    ("a renewal revives a released claim", Mutation::RenewRevivesReleased, RENEWING),
    ("anybody completes", Mutation::CompleteAnybody, THREE),
    ("a token completes without its fence", Mutation::CompleteByTokenAlone, REPEATING),
    ("a completion replaces another", Mutation::CompleteOverSettled, THREE),
    ("a completion does not recognise itself", Mutation::AlreadyNotRecognised, REPEATING),
    ("anybody releases", Mutation::ReleaseAnybody, THREE),
    ("a release undoes a completion", Mutation::ReleaseOverSettled, THREE),
    ("a release deletes the record", Mutation::ReleaseDeletes, THREE),
    ("a release forgets a takeover", Mutation::ReleaseForgetsTakeover, THREE),
    ("a lease is a tick too short", Mutation::FloorTooHigh, THREE),
    ("a lease is as long as the record lives", Mutation::FloorTooLow, THREE),
    ("a lease is counted from the repeated claim", Mutation::LeaseFromRepeatedClaim, REPEATING),
    ("a renewed lease is counted from the reply", Mutation::RenewalFromItsReply, RENEWING),
    ("a body begins on a lease that is over", Mutation::BodyOnDeadLease, World::LEAN),
    ("an absent record is written again by who cannot be sure", Mutation::RestoreThoughUnsure, EXPIRING),
    ("a body that ran is released as if it had not", Mutation::RetractAfterBody, World::LEAN),
];

#[test]
fn every_guard_that_is_taken_away_is_missed() {
    let mut unnoticed = Vec::new();
    for (name, mutation, world) in MUTATIONS {
        match explore(*world, Some(*mutation)) {
            Ok(report) => unnoticed.push(format!("{name}: {} states", report.states)),
            Err(violation) => println!("{name}: {} ({} states)", violation.what, violation.states),
        }
    }
    assert!(unnoticed.is_empty(), "nothing noticed that {unnoticed:#?}");
}

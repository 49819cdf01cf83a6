//! Every state of small worlds: the protocol's pure functions, and workers whose messages are late, lost, doubled and out
//! of order, people, and servers that lose something. A violated invariant is reported with the steps that led to it.
#![cfg(feature = "conformance")]

#[path = "model/doubt.rs"]
mod doubt;
#[path = "model/events.rs"]
mod events;
#[path = "model/explore.rs"]
mod explore;
#[path = "model/guards.rs"]
mod guards;
#[path = "model/hash.rs"]
mod hash;
#[path = "model/mutation.rs"]
mod mutation;
#[path = "model/network.rs"]
mod network;
#[path = "model/past.rs"]
mod past;
#[path = "model/people.rs"]
mod people;
#[path = "model/probe.rs"]
mod probe;
#[path = "model/replies.rs"]
mod replies;
#[path = "model/server.rs"]
mod server;
#[path = "model/state.rs"]
mod state;
#[path = "model/steps.rs"]
mod steps;
#[path = "model/watch.rs"]
mod watch;
#[path = "model/world.rs"]
mod world;

use explore::{Report, Violation, explore};
use guards::GUARDS;
use world::*;

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
    println!("{}", holds(THREE_REPEATING, 540_000));
}

#[test]
fn three_workers_that_renew() {
    println!("{}", holds(THREE_RENEWING, 230_000));
}

#[test]
fn three_workers_of_which_one_has_other_arguments() {
    println!("{}", holds(MISMATCHING, 19_000));
}

#[test]
fn three_workers_whose_clocks_differ() {
    println!("{}", holds(SKEWED, 60_000));
}

#[test]
fn two_workers_whose_errors_may_be_final() {
    println!("{}", holds(CONCLUDING, 4_100));
}

#[test]
fn three_workers_that_reject_arguments() {
    println!("{}", holds(REJECTING, 26_000));
}

#[test]
fn three_workers_that_limit_attempts() {
    println!("{}", holds(LIMITED, 47_000));
}

#[test]
fn two_workers_that_hold() {
    println!("{}", holds(HOLDING, 29_000));
}

#[test]
fn two_workers_that_refuse() {
    println!("{}", holds(REFUSING, 330_000));
}

#[test]
fn three_workers_that_refuse() {
    println!("{}", holds(THREE_REFUSING, 55_000));
}

#[test]
fn two_workers_that_recover() {
    println!("{}", holds(RECOVERING, 380_000));
}

#[test]
fn three_workers_that_recover() {
    println!("{}", holds(THREE_RECOVERING, 33_000));
}

#[test]
fn three_workers_of_three_policies() {
    println!("{}", holds(MIXED, 100_000));
}

#[test]
fn two_workers_that_run_again_and_one_that_recovers() {
    println!("{}", holds(MIXED_RERUNNING, 70_000));
}

#[test]
fn three_workers_of_three_policies_that_renew() {
    println!("{}", holds(MIXED_RENEWING, 140_000));
}

#[test]
fn three_workers_of_three_policies_that_limit_attempts() {
    println!("{}", holds(MIXED_LIMITED, 94_000));
}

#[test]
fn three_workers_of_three_policies_that_reject_arguments() {
    println!("{}", holds(MIXED_REJECTING, 60_000));
}

#[test]
fn two_workers_and_a_person_who_settles() {
    println!("{}", holds(SETTLING, 76_000));
}

#[test]
fn three_workers_and_a_person_who_settles() {
    println!("{}", holds(THREE_SETTLING, 170_000));
}

#[test]
fn two_workers_and_a_person_who_forgets() {
    println!("{}", holds(FORGETTING, 180_000));
}

#[test]
fn three_workers_and_a_person_who_forgets() {
    println!("{}", holds(THREE_FORGETTING, 280_000));
}

#[test]
fn two_workers_and_a_person_who_forces() {
    println!("{}", holds(FORCING, 310_000));
}

#[test]
fn two_workers_and_a_record_that_is_lost() {
    println!("{}", holds(VANISHING, 110_000));
}

#[test]
fn three_workers_other_arguments_and_a_record_that_is_lost() {
    println!("{}", holds(THREE_VANISHING, 94_000));
}

#[test]
fn three_workers_clocks_that_differ_and_a_record_that_is_lost() {
    println!("{}", holds(VANISHING_SKEWED, 1_000_000));
}

#[test]
fn two_workers_and_a_record_that_expires() {
    println!("{}", holds(EXPIRING, 260_000));
}

#[test]
fn three_workers_and_a_record_that_expires() {
    println!("{}", holds(THREE_EXPIRING, 310_000));
}

#[test]
fn two_workers_of_two_policies_and_a_record_that_expires() {
    println!("{}", holds(EXPIRING_MIXED, 81_000));
}

#[test]
fn two_workers_and_a_server_that_goes_back_in_time() {
    println!("{}", holds(FAILING_OVER, 250_000));
}

#[test]
fn three_workers_and_a_server_that_goes_back_in_time() {
    println!("{}", holds(THREE_FAILING_OVER, 200_000));
}

#[test]
fn three_workers_of_three_policies_and_a_server_that_goes_back_in_time() {
    println!("{}", holds(MIXED_FAILING_OVER, 560_000));
}

#[test]
fn three_workers_clocks_that_differ_and_a_server_that_goes_back_in_time() {
    println!("{}", holds(FAILING_OVER_SKEWED, 390_000));
}

#[test]
fn two_workers_and_no_memory_for_a_release() {
    println!("{}", holds(CRAMPED, 94_000));
}

#[test]
fn three_workers_of_three_policies_and_no_memory_for_a_release() {
    println!("{}", holds(MIXED_CRAMPED, 130_000));
}

/// A fence is unique only while its record is there: two claims of one microsecond, and a loss between them. Whoever lost
/// its record must not be told that its result is kept because another's of the same fence is.
#[test]
fn after_a_loss_a_claim_of_the_same_fence_is_not_taken_for_ones_own() {
    println!("{}", holds(World { workers: 2, skew: [0, 1, 0], vanishes: true, ..World::LEAN }, 6_100));
}

#[test]
fn every_guard_that_is_taken_away_is_missed() {
    let mut unnoticed = Vec::new();
    for (name, mutation, world) in GUARDS {
        match explore(*world, Some(*mutation)) {
            Ok(report) => unnoticed.push(format!("{name}: {} states", report.states)),
            Err(violation) => println!("{name}: {} ({} states)", violation.what, violation.states),
        }
    }
    assert!(unnoticed.is_empty(), "nothing noticed that {unnoticed:#?}");
}

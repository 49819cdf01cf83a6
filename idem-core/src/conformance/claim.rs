//! [`Store::claim`]: one wins, and every other is told why not.

use crate::record::{Ending, Fence, Origin};
use crate::store::{Claim, ClaimReply, Complete, CompleteReply, OnCrash, ReleaseReply, Store};

use super::intent::{Intent, answered, granted, replayed};

/// Every scenario of the verb.
///
/// # Panics
///
/// If the store breaks a promise.
pub async fn all(store: &impl Store) {
    nothing_known_is_acquired(store).await;
    a_repeated_claim_recognises_itself(store).await;
    of_many_claims_one_wins(store).await;
    a_claim_in_flight_is_told_what_is_left(store).await;
    other_arguments_mismatch_in_every_state(store).await;
    a_lease_that_ran_out_is_taken_over(store).await;
    a_released_identity_is_claimed_anew(store).await;
    a_released_token_is_stale(store).await;
    a_settled_identity_is_replayed(store).await;
    a_crash_is_declared_uncertain_where_it_is_refused(store).await;
    who_meets_a_crash_decides(store).await;
    an_unknown_outcome_is_claimed_to_ask_for_it(store).await;
    doubt_survives_the_crash_of_who_asked(store).await;
    doubt_survives_an_asker_that_was_never_answered(store).await;
    doubt_ends_with_an_asker_that_ran(store).await;
    attempts_end_at_the_limit_and_go_on_at_a_greater_one(store).await;
    a_crash_at_the_limit_is_told_from_a_release(store).await;
    fences_rise_exactly_beyond_what_a_double_can_hold(store).await;
}

async fn nothing_known_is_acquired(store: &impl Store) {
    let intent = Intent::new();
    let claim = intent.claim();
    let grant = granted(store.claim(&claim).await);
    assert_eq!((grant.attempt, grant.origin, grant.fence), (1, Origin::First, claim.proposed));
}

async fn a_repeated_claim_recognises_itself(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    assert_eq!(granted(store.claim(&claim).await), grant, "in its lease");
    intent.lease_ends().await;
    assert_eq!(granted(store.claim(&claim).await), grant, "after its lease, while nobody followed");
    let next = intent.claim();
    let taken_over = granted(store.claim(&next).await);
    assert_eq!(taken_over.origin, Origin::Takeover);
    assert_eq!(granted(store.claim(&next).await), taken_over, "a takeover is told again as one");
}

async fn of_many_claims_one_wins(store: &impl Store) {
    let intent = Intent::new();
    let claims: Vec<_> = (0..16).map(|_| intent.claim()).collect();
    let replies = futures_util::future::join_all(claims.iter().map(|claim| store.claim(claim))).await;
    let won = replies.iter().filter(|reply| matches!(reply, Ok(ClaimReply::Acquired(_)))).count();
    let told = replies.iter().filter(|reply| matches!(reply, Ok(ClaimReply::InFlight { .. }))).count();
    assert_eq!((won, told), (1, 15));
}

async fn a_claim_in_flight_is_told_what_is_left(store: &impl Store) {
    let intent = Intent::new();
    intent.won(store).await;
    match answered(store.claim(&intent.claim()).await) {
        ClaimReply::InFlight { left } => assert!(!left.is_zero() && left <= Intent::LEASE, "{left:?} is left"),
        other => panic!("a live claim is in flight, not {other:?}"),
    }
}

async fn other_arguments_mismatch_in_every_state(store: &impl Store) {
    let mismatch = async |intent: &Intent, state: &str| {
        let reply = answered(store.claim(&intent.with_other_arguments().claim()).await);
        assert_eq!(reply, ClaimReply::Mismatch, "{state}");
    };
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    mismatch(&intent, "in flight").await;
    intent.lease_ends().await;
    mismatch(&intent, "its lease over").await;
    answered(store.release(&intent.release(&claim, Some(grant))).await);
    mismatch(&intent, "released").await;
    let (claim, grant) = intent.won(store).await;
    answered(store.complete(&intent.complete(&claim, grant, "1", false)).await);
    mismatch(&intent, "settled").await;
    let (intent, failed) = (Intent::new(), Intent::new());
    intent.held(store).await;
    mismatch(&intent, "uncertain").await;
    let (claim, grant) = failed.won(store).await;
    let complete = Complete { ending: Ending::Failed, ..failed.complete(&claim, grant, "1", false) };
    answered(store.complete(&complete).await);
    mismatch(&failed, "failed").await;
}

async fn a_lease_that_ran_out_is_taken_over(store: &impl Store) {
    let intent = Intent::new();
    let (_, first) = intent.won(store).await;
    intent.lease_ends().await;
    let second = granted(store.claim(&intent.claim_from(Fence::new(0))).await);
    assert_eq!((second.attempt, second.origin), (2, Origin::Takeover));
    assert!(second.fence > first.fence, "{} follows {}", second.fence, first.fence);
}

async fn a_released_identity_is_claimed_anew(store: &impl Store) {
    let intent = Intent::new();
    let (claim, first) = intent.won(store).await;
    assert_eq!(answered(store.release(&intent.release(&claim, Some(first))).await), ReleaseReply::Released);
    let second = granted(store.claim(&intent.claim_from(Fence::new(0))).await);
    assert_eq!((second.attempt, second.origin), (2, Origin::Released));
    assert!(second.fence > first.fence, "{} follows {}", second.fence, first.fence);
}

async fn a_released_token_is_stale(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    answered(store.release(&intent.release(&claim, Some(grant))).await);
    assert_eq!(answered(store.claim(&claim).await), ClaimReply::Stale, "a late message undoes no release");
}

async fn a_settled_identity_is_replayed(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    let complete = intent.complete(&claim, grant, "42", false);
    answered(store.complete(&complete).await);
    for token in [intent.claim(), claim] {
        let replay = replayed(store.claim(&token).await);
        assert_eq!((replay.fence, replay.attempt, replay.kept), (grant.fence, 1, complete.kept.clone()));
    }
}

/// Scenario F21.
async fn fences_rise_exactly_beyond_what_a_double_can_hold(store: &impl Store) {
    for big in [9_007_199_254_740_993, u64::MAX - 2] {
        let intent = Intent::new();
        let claim = intent.claim_from(Fence::new(big));
        let first = granted(store.claim(&claim).await);
        assert_eq!(first.fence, Fence::new(big));
        answered(store.release(&intent.release(&claim, Some(first))).await);
        let second = granted(store.claim(&intent.claim_from(Fence::new(1))).await);
        assert_eq!(second.fence, Fence::new(big + 1));
    }
}

async fn a_crash_is_declared_uncertain_where_it_is_refused(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.declared_uncertain(store).await;
    let uncertain = ClaimReply::Uncertain { fence: grant.fence };
    for next in [intent.claim(), intent.claim_on_crash(OnCrash::Refuse), claim] {
        assert_eq!(answered(store.claim(&next).await), uncertain, "nothing runs until it is settled");
    }
    let other = intent.with_other_arguments().claim_on_crash(OnCrash::Recover);
    assert_eq!(answered(store.claim(&other).await), ClaimReply::Mismatch);
}

/// Scenario F30.
async fn who_meets_a_crash_decides(store: &impl Store) {
    let intent = Intent::new();
    granted(store.claim(&intent.claim_on_crash(OnCrash::Refuse)).await);
    let live = answered(store.claim(&intent.claim_on_crash(OnCrash::Recover)).await);
    assert!(matches!(live, ClaimReply::InFlight { .. }), "a claim that is held is no crash, but {live:?}");
    intent.lease_ends().await;
    assert_eq!(granted(store.claim(&intent.claim()).await).origin, Origin::Takeover);
}

async fn an_unknown_outcome_is_claimed_to_ask_for_it(store: &impl Store) {
    let (crashed, held) = (Intent::new(), Intent::new());
    let (_, first) = crashed.won(store).await;
    held.held(store).await;
    crashed.lease_ends().await;
    for intent in [crashed, held] {
        let claim = Claim { proposed: Fence::new(0), ..intent.claim_on_crash(OnCrash::Recover) };
        let grant = granted(store.claim(&claim).await);
        assert_eq!((grant.attempt, grant.origin), (2, Origin::Doubt));
        assert!(grant.fence >= first.fence, "{} follows {}", grant.fence, first.fence);
        assert_eq!(granted(store.claim(&claim).await), grant, "it recognises itself");
        let reply = answered(store.claim(&intent.claim_on_crash(OnCrash::Recover)).await);
        assert!(matches!(reply, ClaimReply::InFlight { .. }), "one asks at a time, not {reply:?}");
    }
}

/// Scenario F8.
async fn doubt_survives_the_crash_of_who_asked(store: &impl Store) {
    let intent = Intent::new();
    intent.held(store).await;
    let asker = granted(store.claim(&intent.claim_on_crash(OnCrash::Recover)).await);
    intent.lease_ends().await;
    let reply = answered(store.claim(&intent.claim()).await);
    assert_eq!(reply, ClaimReply::Uncertain { fence: asker.fence }, "nobody runs who would not ask");
    let next = granted(store.claim(&intent.claim_on_crash(OnCrash::Recover)).await);
    assert_eq!((next.attempt, next.origin), (3, Origin::Doubt));
    intent.lease_ends().await;
    let next = granted(store.claim(&intent.claim_on_crash(OnCrash::Recover)).await);
    assert_eq!((next.attempt, next.origin), (4, Origin::Doubt), "another asks, without a word in between");
}

async fn doubt_survives_an_asker_that_was_never_answered(store: &impl Store) {
    let intent = Intent::new();
    intent.held(store).await;
    let asker = intent.claim_on_crash(OnCrash::Recover);
    let grant = granted(store.claim(&asker).await);
    assert_eq!(answered(store.release(&intent.release(&asker, None)).await), ReleaseReply::Uncertain);
    let reply = answered(store.claim(&intent.claim()).await);
    assert_eq!(reply, ClaimReply::Uncertain { fence: grant.fence });
}

async fn doubt_ends_with_an_asker_that_ran(store: &impl Store) {
    let intent = Intent::new();
    intent.held(store).await;
    let asker = intent.claim_on_crash(OnCrash::Recover);
    let grant = granted(store.claim(&asker).await);
    assert_eq!(answered(store.release(&intent.release(&asker, Some(grant))).await), ReleaseReply::Released);
    let next = granted(store.claim(&intent.claim()).await);
    assert_eq!((next.attempt, next.origin), (3, Origin::AfterTakeover));
}

/// Scenario F14.
async fn attempts_end_at_the_limit_and_go_on_at_a_greater_one(store: &impl Store) {
    let intent = Intent::new();
    let at_most = |most| Claim { max_attempts: Some(most), ..intent.claim() };
    let first = at_most(1);
    let grant = granted(store.claim(&first).await);
    let reply = answered(store.claim(&at_most(1)).await);
    assert!(matches!(reply, ClaimReply::InFlight { .. }), "the last attempt runs, but {reply:?}");
    answered(store.release(&intent.release(&first, Some(grant))).await);
    for _ in 0..2 {
        assert_eq!(answered(store.claim(&at_most(1)).await), ClaimReply::Exhausted { crashed: false });
    }
    assert_eq!(granted(store.claim(&at_most(2)).await).attempt, 2);
}

/// Scenario F14: nothing is written, so that the late completion of the last owner counts.
async fn a_crash_at_the_limit_is_told_from_a_release(store: &impl Store) {
    let at_most = |claim, most| Claim { max_attempts: Some(most), ..claim };
    let (crashed, held) = (Intent::new(), Intent::new());
    let (claim, grant) = crashed.won(store).await;
    held.held(store).await;
    crashed.lease_ends().await;
    let exhausted = ClaimReply::Exhausted { crashed: true };
    for on_crash in [OnCrash::Rerun, OnCrash::Recover] {
        let next = at_most(crashed.claim_on_crash(on_crash), 1);
        assert_eq!(answered(store.claim(&next).await), exhausted, "{on_crash:?}");
    }
    assert_eq!(answered(store.claim(&at_most(held.claim_on_crash(OnCrash::Recover), 1)).await), exhausted);
    let complete = crashed.complete(&claim, grant, "late", false);
    assert_eq!(answered(store.complete(&complete).await), CompleteReply::Completed);
}

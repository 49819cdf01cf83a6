//! [`Store::claim`]: one wins, and every other is told why not.

use crate::record::{Fence, Origin};
use crate::store::{ClaimReply, ReleaseReply, Store};

use super::intent::{Intent, answered, granted};

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
        match answered(store.claim(&token).await) {
            ClaimReply::Replay(replay) => {
                assert_eq!((replay.fence, replay.attempt, replay.kept), (grant.fence, 1, complete.kept.clone()));
            }
            other => panic!("a settled identity is replayed, not {other:?}"),
        }
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

//! [`Store::forget`]: an identity is free again, and no fence falls by it.

use crate::record::{Ending, Fence, Origin};
use crate::store::{ClaimReply, Complete, CompleteReply, ForgetReply, ReleaseReply, RenewReply, Store};

use super::intent::{Intent, answered, granted};

/// Every scenario of the verb.
///
/// # Panics
///
/// If the store breaks a promise.
pub async fn all(store: &impl Store) {
    a_settled_record_goes(store).await;
    an_unknown_outcome_is_released(store).await;
    a_crash_that_nobody_met_is_released(store).await;
    a_claim_that_is_held_is_freed_only_by_force(store).await;
    a_released_record_stays_as_it_is(store).await;
    only_the_attempt_that_was_looked_at_is_forgotten(store).await;
}

async fn a_settled_record_goes(store: &impl Store) {
    for ending in [Ending::Completed, Ending::Failed] {
        let intent = Intent::new();
        let (claim, grant) = intent.won(store).await;
        let complete = Complete { ending, ..intent.complete(&claim, grant, "1", false) };
        answered(store.complete(&complete).await);
        assert_eq!(answered(store.forget(&intent.forget(grant.fence, false)).await), ForgetReply::Deleted);
        assert_eq!(answered(store.forget(&intent.forget(grant.fence, false)).await), ForgetReply::Absent);
        let next = granted(store.claim(&intent.with_other_arguments().claim()).await);
        assert_eq!((next.attempt, next.origin), (1, Origin::First), "with any arguments");
    }
}

async fn an_unknown_outcome_is_released(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.held(store).await;
    assert_eq!(answered(store.forget(&intent.forget(grant.fence, false)).await), ForgetReply::Released);
    let late = intent.complete(&claim, grant, "late", true);
    assert_eq!(answered(store.complete(&late).await), CompleteReply::Lost, "what its owner still sends is refused");
    let reply = answered(store.claim(&intent.with_other_arguments().claim()).await);
    assert_eq!(reply, ClaimReply::Mismatch, "the arguments stay bound");
    follows(&intent, store, grant.fence).await;
}

async fn a_crash_that_nobody_met_is_released(store: &impl Store) {
    let intent = Intent::new();
    let (_, grant) = intent.won(store).await;
    intent.lease_ends().await;
    assert_eq!(answered(store.forget(&intent.forget(grant.fence, false)).await), ForgetReply::Released);
    follows(&intent, store, grant.fence).await;
}

/// Scenario F22.
async fn a_claim_that_is_held_is_freed_only_by_force(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    assert_eq!(answered(store.forget(&intent.forget(grant.fence, false)).await), ForgetReply::Live);
    assert_eq!(answered(store.renew(&intent.renew(&claim, grant, false)).await), RenewReply::Renewed);
    assert_eq!(answered(store.forget(&intent.forget(grant.fence, true)).await), ForgetReply::Released);
    assert_eq!(answered(store.renew(&intent.renew(&claim, grant, true)).await), RenewReply::Lost);
    assert_eq!(answered(store.release(&intent.release(&claim, Some(grant))).await), ReleaseReply::Unchanged);
    follows(&intent, store, grant.fence).await;
}

/// Claims, and follows the attempt with `fence`, which may have had its effect.
async fn follows(intent: &Intent, store: &impl Store, fence: Fence) {
    let next = granted(store.claim(&intent.claim_from(Fence::new(0))).await);
    assert_eq!((next.attempt, next.origin), (2, Origin::AfterTakeover));
    assert!(next.fence > fence, "{} follows {fence}", next.fence);
}

async fn a_released_record_stays_as_it_is(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    answered(store.release(&intent.release(&claim, Some(grant))).await);
    for force in [false, true] {
        assert_eq!(answered(store.forget(&intent.forget(grant.fence, force)).await), ForgetReply::Released);
    }
    let next = granted(store.claim(&intent.claim()).await);
    assert_eq!((next.attempt, next.origin), (2, Origin::Released));
}

async fn only_the_attempt_that_was_looked_at_is_forgotten(store: &impl Store) {
    let intent = Intent::new();
    assert_eq!(answered(store.forget(&intent.forget(Fence::new(1), true)).await), ForgetReply::Absent);
    let (claim, grant) = intent.won(store).await;
    let another = intent.forget(Fence::new(grant.fence.get() - 1), true);
    assert_eq!(answered(store.forget(&another).await), ForgetReply::Changed);
    answered(store.complete(&intent.complete(&claim, grant, "1", false)).await);
    assert_eq!(answered(store.forget(&another).await), ForgetReply::Changed);
    let reply = answered(store.claim(&intent.claim()).await);
    assert!(matches!(reply, ClaimReply::Replay(_)), "{reply:?}");
}

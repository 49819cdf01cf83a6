//! [`Store::renew`]: the owner's claim lives on, and no other comes back to life.

use crate::record::Origin;
use crate::store::{ClaimReply, CompleteReply, ReleaseReply, Renew, RenewReply, Store};

use super::intent::{Intent, answered, granted, won_twice};

/// Every scenario of the verb.
///
/// # Panics
///
/// If the store breaks a promise.
pub async fn all(store: &impl Store) {
    a_renewed_claim_outlives_its_first_lease(store).await;
    a_claim_that_nobody_followed_can_be_renewed_late(store).await;
    a_claim_that_was_followed_is_lost(store).await;
    a_token_that_won_twice_owns_by_its_latest_fence_only(store).await;
    a_released_or_settled_claim_is_lost(store).await;
    an_absent_record_is_written_again_only_if_asked(store).await;
    what_was_declared_uncertain_is_held_no_longer(store).await;
    a_record_from_before_the_claim_is_as_good_as_absent(store).await;
}

async fn a_renewed_claim_outlives_its_first_lease(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    for _ in 0..4 {
        tokio::time::sleep(Intent::LEASE / 2).await;
        assert_eq!(answered(store.renew(&intent.renew(&claim, grant, true)).await), RenewReply::Renewed);
    }
    let reply = answered(store.claim(&intent.claim()).await);
    assert!(matches!(reply, ClaimReply::InFlight { left } if left <= Intent::LEASE), "{reply:?}");
    intent.lease_ends().await;
    let next = granted(store.claim(&intent.claim()).await);
    assert_eq!((next.attempt, next.origin), (2, Origin::Takeover), "renewing makes no attempt");
}

async fn a_claim_that_nobody_followed_can_be_renewed_late(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    intent.lease_ends().await;
    assert_eq!(answered(store.renew(&intent.renew(&claim, grant, false)).await), RenewReply::Renewed);
    let reply = answered(store.claim(&intent.claim()).await);
    assert!(matches!(reply, ClaimReply::InFlight { .. }), "{reply:?}");
}

async fn a_claim_that_was_followed_is_lost(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    intent.lease_ends().await;
    let (next, granted_next) = intent.won(store).await;
    assert_eq!(answered(store.renew(&intent.renew(&claim, grant, true)).await), RenewReply::Lost);
    intent.lease_ends().await;
    assert_eq!(
        granted(store.claim(&next).await),
        granted_next,
        "a lost renewal changes neither the record nor its life"
    );
    assert_eq!(granted(store.claim(&intent.claim()).await).origin, Origin::Takeover);
}

/// Scenario F1: a late message of the first claim wins again under the same token; what the first win still sends is refused.
async fn a_token_that_won_twice_owns_by_its_latest_fence_only(store: &impl Store) {
    let intent = Intent::new();
    let (claim, first) = intent.won(store).await;
    intent.lease_ends().await;
    intent.won(store).await;
    intent.lease_ends().await;
    let again = granted(store.claim(&claim).await);
    assert_eq!((again.attempt, again.origin), (3, Origin::Takeover));
    assert_eq!(answered(store.renew(&intent.renew(&claim, first, true)).await), RenewReply::Lost);
    assert_eq!(answered(store.complete(&intent.complete(&claim, first, "1", true)).await), CompleteReply::Lost);
    assert_eq!(answered(store.release(&intent.release(&claim, Some(first))).await), ReleaseReply::Unchanged);
    assert_eq!(answered(store.renew(&intent.renew(&claim, again, true)).await), RenewReply::Renewed);
}

async fn a_released_or_settled_claim_is_lost(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    answered(store.release(&intent.release(&claim, Some(grant))).await);
    assert_eq!(answered(store.renew(&intent.renew(&claim, grant, true)).await), RenewReply::Lost);
    let (claim, grant) = intent.won(store).await;
    answered(store.complete(&intent.complete(&claim, grant, "1", false)).await);
    assert_eq!(answered(store.renew(&intent.renew(&claim, grant, true)).await), RenewReply::Lost);
}

async fn an_absent_record_is_written_again_only_if_asked(store: &impl Store) {
    let (known, vanished) = (Intent::new(), Intent::new());
    let (claim, grant) = known.won(store).await;
    // The claim of one intent, renewed under the name of another: to the store its record is absent.
    let mut renew = vanished.renew(&claim, grant, false);
    renew.operation = vanished.operation.clone();
    assert_eq!(answered(store.renew(&renew).await), RenewReply::Absent);
    renew.restore = true;
    assert_eq!(answered(store.renew(&renew).await), RenewReply::Reasserted);
    let reply = answered(store.claim(&vanished.claim()).await);
    assert!(matches!(reply, ClaimReply::InFlight { .. }), "{reply:?}");
    renew.restore = false;
    assert_eq!(answered(store.renew(&renew).await), RenewReply::Renewed);
}

async fn what_was_declared_uncertain_is_held_no_longer(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.declared_uncertain(store).await;
    for restore in [false, true] {
        assert_eq!(answered(store.renew(&intent.renew(&claim, grant, restore)).await), RenewReply::Uncertain);
        let foreign = intent.renew(&intent.claim(), grant, restore);
        assert_eq!(answered(store.renew(&foreign).await), RenewReply::Lost);
    }
    let reply = answered(store.claim(&intent.claim()).await);
    assert_eq!(reply, ClaimReply::Uncertain { fence: grant.fence });
}

/// Scenario F15.
async fn a_record_from_before_the_claim_is_as_good_as_absent(store: &impl Store) {
    let past = Intent::new();
    let (claim, grant) = past.won(store).await;
    let (later, granted_later) = won_twice(store).await;
    let renew = |restore| Renew { operation: past.operation.clone(), ..past.renew(&later, granted_later, restore) };
    assert_eq!(answered(store.renew(&renew(true)).await), RenewReply::Lost, "somebody runs");
    answered(store.release(&past.release(&claim, Some(grant))).await);
    assert_eq!(answered(store.renew(&renew(false)).await), RenewReply::Lost);
    assert_eq!(answered(store.renew(&renew(true)).await), RenewReply::Reasserted);
    assert_eq!(answered(store.renew(&renew(false)).await), RenewReply::Renewed);
    let reply = answered(store.claim(&past.claim()).await);
    assert!(matches!(reply, ClaimReply::InFlight { .. }), "{reply:?}");
}

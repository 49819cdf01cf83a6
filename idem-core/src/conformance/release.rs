//! [`Store::release`]: the owner gives up its own claim, and nobody else's.

use crate::record::Origin;
use crate::store::{ClaimReply, GivenUp, OnCrash, Release, ReleaseReply, Store};

use super::intent::{Intent, answered, granted, replayed};

/// Every scenario of the verb.
///
/// # Panics
///
/// If the store breaks a promise.
pub async fn all(store: &impl Store) {
    a_claim_that_was_never_answered_is_released_by_its_token(store).await;
    anothers_claim_is_not_released(store).await;
    a_released_settled_or_absent_record_stays_as_it_is(store).await;
    attempts_go_on_across_releases(store).await;
    an_outcome_that_is_held_is_uncertain(store).await;
    nothing_is_held_under_which_nothing_ran(store).await;
    a_late_owner_gives_up_what_was_declared_uncertain(store).await;
    after_a_rejection_other_arguments_may_follow(store).await;
    a_rejection_after_a_takeover_opens_nothing(store).await;
}

async fn a_claim_that_was_never_answered_is_released_by_its_token(store: &impl Store) {
    let intent = Intent::new();
    let (claim, _) = intent.won(store).await;
    assert_eq!(answered(store.release(&intent.release(&claim, None)).await), ReleaseReply::Released);
    granted(store.claim(&intent.claim()).await);
}

async fn anothers_claim_is_not_released(store: &impl Store) {
    let intent = Intent::new();
    let (_, grant) = intent.won(store).await;
    for fence in [Some(grant), None] {
        let foreign = intent.release(&intent.claim(), fence);
        assert_eq!(answered(store.release(&foreign).await), ReleaseReply::Unchanged);
    }
    let reply = answered(store.claim(&intent.claim()).await);
    assert!(matches!(reply, ClaimReply::InFlight { .. }), "{reply:?}");
}

async fn a_released_settled_or_absent_record_stays_as_it_is(store: &impl Store) {
    let intent = Intent::new();
    let absent = intent.release(&intent.claim(), None);
    assert_eq!(answered(store.release(&absent).await), ReleaseReply::Unchanged);
    let (claim, grant) = intent.won(store).await;
    let release = intent.release(&claim, Some(grant));
    assert_eq!(answered(store.release(&release).await), ReleaseReply::Released);
    assert_eq!(answered(store.release(&release).await), ReleaseReply::Unchanged);
    let (claim, grant) = intent.won(store).await;
    answered(store.complete(&intent.complete(&claim, grant, "1", false)).await);
    assert_eq!(answered(store.release(&intent.release(&claim, Some(grant))).await), ReleaseReply::Unchanged);
    replayed(store.claim(&intent.claim()).await);
}

async fn attempts_go_on_across_releases(store: &impl Store) {
    let intent = Intent::new();
    for attempt in 1..=70 {
        let (claim, grant) = intent.won(store).await;
        assert_eq!(grant.attempt, attempt);
        answered(store.release(&intent.release(&claim, Some(grant))).await);
    }
}

async fn an_outcome_that_is_held_is_uncertain(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.held(store).await;
    let again = Release { given_up: GivenUp::Held, ..intent.release(&claim, Some(grant)) };
    assert_eq!(answered(store.release(&again).await), ReleaseReply::Uncertain, "an answer that was lost");
    for on_crash in [OnCrash::Rerun, OnCrash::Refuse] {
        let reply = answered(store.claim(&intent.claim_on_crash(on_crash)).await);
        assert_eq!(reply, ClaimReply::Uncertain { fence: grant.fence }, "{on_crash:?}");
    }
}

async fn nothing_is_held_under_which_nothing_ran(store: &impl Store) {
    let intent = Intent::new();
    let (claim, _) = intent.won(store).await;
    let release = Release { given_up: GivenUp::Held, ..intent.release(&claim, None) };
    assert_eq!(answered(store.release(&release).await), ReleaseReply::Released);
    assert_eq!(granted(store.claim(&intent.claim()).await).origin, Origin::Released);
}

async fn a_late_owner_gives_up_what_was_declared_uncertain(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.declared_uncertain(store).await;
    let foreign = intent.release(&intent.claim(), Some(grant));
    assert_eq!(answered(store.release(&foreign).await), ReleaseReply::Unchanged);
    assert_eq!(answered(store.release(&intent.release(&claim, Some(grant))).await), ReleaseReply::Released);
    let next = granted(store.claim(&intent.claim()).await);
    assert_eq!((next.attempt, next.origin), (2, Origin::Released), "its owner has told what came of it");
}

/// Scenario F19.
async fn after_a_rejection_other_arguments_may_follow(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    let release = Release { given_up: GivenUp::Rejected, ..intent.release(&claim, Some(grant)) };
    assert_eq!(answered(store.release(&release).await), ReleaseReply::Released);
    assert_eq!(answered(store.claim(&claim).await), ClaimReply::Stale, "a late message undoes no rejection");
    let corrected = intent.with_other_arguments();
    let (claim, grant) = corrected.won(store).await;
    assert_eq!((grant.attempt, grant.origin), (2, Origin::Released));
    assert_eq!(answered(store.claim(&intent.claim()).await), ClaimReply::Mismatch, "it is bound again");
    answered(store.release(&corrected.release(&claim, Some(grant))).await);
    assert_eq!(answered(store.claim(&intent.claim()).await), ClaimReply::Mismatch, "by a mere release as well");
}

/// What was taken over may have had its effect, with these arguments.
async fn a_rejection_after_a_takeover_opens_nothing(store: &impl Store) {
    let intent = Intent::new();
    intent.won(store).await;
    intent.lease_ends().await;
    let (claim, grant) = intent.won(store).await;
    let release = Release { given_up: GivenUp::Rejected, ..intent.release(&claim, Some(grant)) };
    assert_eq!(answered(store.release(&release).await), ReleaseReply::Released);
    let reply = answered(store.claim(&intent.with_other_arguments().claim()).await);
    assert_eq!(reply, ClaimReply::Mismatch);
    assert_eq!(granted(store.claim(&intent.claim()).await).origin, Origin::AfterTakeover);
}

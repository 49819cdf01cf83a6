//! [`Store::release`]: the owner gives up its own claim, and nobody else's.

use crate::store::{ClaimReply, ReleaseReply, Store};

use super::intent::{Intent, answered, granted};

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
    let reply = answered(store.claim(&intent.claim()).await);
    assert!(matches!(reply, ClaimReply::Replay(_)), "{reply:?}");
}

async fn attempts_go_on_across_releases(store: &impl Store) {
    let intent = Intent::new();
    for attempt in 1..=70 {
        let (claim, grant) = intent.won(store).await;
        assert_eq!(grant.attempt, attempt);
        answered(store.release(&intent.release(&claim, Some(grant))).await);
    }
}

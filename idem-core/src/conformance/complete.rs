//! [`Store::complete`]: the owner's result is kept, once, and no other's.

use std::time::Duration;

use bytes::Bytes;

use crate::record::{Ending, Kept, Origin};
use crate::store::{Complete, CompleteReply, OnCrash, Store};

use super::intent::{Intent, answered, granted, replayed, won_twice};

/// Every scenario of the verb.
///
/// # Panics
///
/// If the store breaks a promise.
pub async fn all(store: &impl Store) {
    a_completion_recognises_itself(store).await;
    a_late_completion_counts_while_nobody_followed(store).await;
    a_completion_after_a_follower_is_lost(store).await;
    a_settled_record_is_never_changed(store).await;
    an_absent_record_is_restored_only_if_asked(store).await;
    a_late_owner_settles_what_was_declared_uncertain(store).await;
    the_answer_to_who_asked_is_kept(store).await;
    an_error_that_is_final_is_replayed_as_one(store).await;
    a_record_from_before_the_claim_is_as_good_as_absent(store).await;
    a_payload_comes_back_byte_by_byte(store).await;
    a_result_is_forgotten_when_its_retention_ends(store).await;
}

async fn a_completion_recognises_itself(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    let complete = intent.complete(&claim, grant, "1", true);
    assert_eq!(answered(store.complete(&complete).await), CompleteReply::Completed);
    assert_eq!(answered(store.complete(&complete).await), CompleteReply::Already);
}

async fn a_late_completion_counts_while_nobody_followed(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    intent.lease_ends().await;
    let complete = intent.complete(&claim, grant, "1", false);
    assert_eq!(answered(store.complete(&complete).await), CompleteReply::Completed);
}

async fn a_completion_after_a_follower_is_lost(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    intent.lease_ends().await;
    let (next, granted_next) = intent.won(store).await;
    let late = intent.complete(&claim, grant, "late", true);
    assert_eq!(answered(store.complete(&late).await), CompleteReply::Lost, "the follower runs");
    assert_eq!(granted(store.claim(&next).await), granted_next, "its record is untouched");
    answered(store.release(&intent.release(&next, Some(granted_next))).await);
    assert_eq!(answered(store.complete(&late).await), CompleteReply::Lost, "the follower gave up");
}

async fn a_settled_record_is_never_changed(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    intent.lease_ends().await;
    let (next, granted_next) = intent.won(store).await;
    answered(store.complete(&intent.complete(&next, granted_next, "next", false)).await);
    assert_eq!(answered(store.complete(&intent.complete(&claim, grant, "late", true)).await), CompleteReply::Lost);
    answered(store.release(&intent.release(&next, Some(granted_next))).await);
    assert_eq!(replayed(store.claim(&intent.claim()).await).kept.payload, "next");
}

async fn an_absent_record_is_restored_only_if_asked(store: &impl Store) {
    let (known, vanished) = (Intent::new(), Intent::new());
    let (claim, grant) = known.won(store).await;
    let complete = |restore| vanished.complete(&claim, grant, "1", restore);
    assert_eq!(answered(store.complete(&complete(false)).await), CompleteReply::Absent);
    assert_eq!(answered(store.complete(&complete(false)).await), CompleteReply::Absent, "nothing was written");
    assert_eq!(answered(store.complete(&complete(true)).await), CompleteReply::Restored);
    replayed(store.claim(&vanished.claim()).await);
}

/// Scenario F8.
async fn a_late_owner_settles_what_was_declared_uncertain(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.declared_uncertain(store).await;
    let foreign = intent.complete(&intent.claim(), grant, "foreign", true);
    assert_eq!(answered(store.complete(&foreign).await), CompleteReply::Lost);
    let late = intent.complete(&claim, grant, "late", false);
    assert_eq!(answered(store.complete(&late).await), CompleteReply::Completed);
    assert_eq!(replayed(store.claim(&intent.claim()).await).kept.payload, "late");
}

async fn the_answer_to_who_asked_is_kept(store: &impl Store) {
    let intent = Intent::new();
    intent.held(store).await;
    let asker = intent.claim_on_crash(OnCrash::Recover);
    let grant = granted(store.claim(&asker).await);
    let found = intent.complete(&asker, grant, "found", false);
    assert_eq!(answered(store.complete(&found).await), CompleteReply::Completed);
    assert_eq!(replayed(store.claim(&intent.claim()).await).kept.payload, "found");
}

async fn an_error_that_is_final_is_replayed_as_one(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    let failed = Complete { ending: Ending::Failed, ..intent.complete(&claim, grant, "1", false) };
    assert_eq!(answered(store.complete(&failed).await), CompleteReply::Completed);
    assert_eq!(answered(store.complete(&failed).await), CompleteReply::Already);
    let told = replayed(store.claim(&intent.claim()).await);
    assert_eq!((told.ending, told.kept), (Ending::Failed, failed.kept.clone()));
    let completed = Complete { ending: Ending::Completed, ..failed };
    assert_eq!(answered(store.complete(&completed).await), CompleteReply::Lost, "it ended otherwise");
}

/// Scenario F15.
async fn a_record_from_before_the_claim_is_as_good_as_absent(store: &impl Store) {
    let past = Intent::new();
    let (claim, grant) = past.won(store).await;
    let (later, granted_later) = won_twice(store).await;
    let complete = |restore| past.complete(&later, granted_later, "1", restore);
    assert_eq!(answered(store.complete(&complete(true)).await), CompleteReply::Lost, "somebody runs");
    answered(store.release(&past.release(&claim, Some(grant))).await);
    assert_eq!(answered(store.complete(&complete(false)).await), CompleteReply::Lost);
    assert_eq!(answered(store.complete(&complete(true)).await), CompleteReply::Restored);
    assert_eq!(replayed(store.claim(&past.claim()).await).attempt, 2);
}

async fn a_payload_comes_back_byte_by_byte(store: &impl Store) {
    let every_byte: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
    for payload in [Bytes::new(), Bytes::from_static(b"\0"), every_byte.into()] {
        let intent = Intent::new();
        let (claim, grant) = intent.won(store).await;
        answered(store.complete(&intent.complete(&claim, grant, payload.clone(), false)).await);
        let replay = replayed(store.claim(&intent.claim()).await);
        assert!(replay.kept.payload == payload, "{} bytes", payload.len());
    }
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    let mut without = intent.complete(&claim, grant, "", false);
    without.kept = Kept { codec: None, payload: Bytes::new(), trace: None };
    answered(store.complete(&without).await);
    assert_eq!(replayed(store.claim(&intent.claim()).await).kept, without.kept);
}

async fn a_result_is_forgotten_when_its_retention_ends(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    let mut complete = intent.complete(&claim, grant, "1", false);
    complete.retention = 100;
    answered(store.complete(&complete).await);
    tokio::time::sleep(Duration::from_millis(150)).await;
    let next = granted(store.claim(&intent.claim()).await);
    assert_eq!((next.attempt, next.origin), (1, Origin::First));
    assert!(next.fence > grant.fence, "fences rise across retention, by the wall clock");
}

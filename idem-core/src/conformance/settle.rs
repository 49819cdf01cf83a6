//! [`Store::settle`]: what nobody knew is said once, of the attempt that was looked at.

use bytes::Bytes;

use crate::codec::Codec;
use crate::record::{Ending, Fence, Kept, Origin};
use crate::store::{ClaimReply, CompleteReply, ReleaseReply, RenewReply, SettleReply, Settlement, Store};

use super::intent::{Intent, answered, granted, replayed};

/// Every scenario of the verb.
///
/// # Panics
///
/// If the store breaks a promise.
pub async fn all(store: &impl Store) {
    an_unknown_outcome_is_settled_with_its_result(store).await;
    an_unknown_outcome_is_settled_to_run_again(store).await;
    a_crash_that_nobody_met_is_settled_likewise(store).await;
    a_settlement_recognises_itself_and_no_other(store).await;
    an_attempt_that_runs_is_not_settled(store).await;
    only_the_attempt_that_was_looked_at_is_settled(store).await;
    what_its_owner_ended_is_not_settled(store).await;
    a_late_owner_changes_no_settlement(store).await;
}

fn ended(ending: Ending, payload: &'static str) -> Settlement {
    Settlement::Ended(
        ending,
        Kept { codec: Some(Codec::Json), payload: Bytes::from_static(payload.as_bytes()), trace: None },
    )
}

async fn an_unknown_outcome_is_settled_with_its_result(store: &impl Store) {
    for ending in [Ending::Completed, Ending::Failed] {
        let intent = Intent::new();
        let (_, grant) = intent.held(store).await;
        let settle = intent.settle(grant.fence, ended(ending, "found"));
        assert_eq!(answered(store.settle(&settle).await), SettleReply::Settled);
        let told = replayed(store.claim(&intent.claim()).await);
        assert_eq!((told.ending, &told.kept.payload[..]), (ending, &b"found"[..]));
        assert_eq!((told.fence, told.attempt), (grant.fence, grant.attempt));
        let reply = answered(store.claim(&intent.with_other_arguments().claim()).await);
        assert_eq!(reply, ClaimReply::Mismatch, "the arguments stay bound");
    }
}

async fn an_unknown_outcome_is_settled_to_run_again(store: &impl Store) {
    let intent = Intent::new();
    let (_, grant) = intent.held(store).await;
    let settle = intent.settle(grant.fence, Settlement::RunAgain);
    assert_eq!(answered(store.settle(&settle).await), SettleReply::Settled);
    let next = granted(store.claim(&intent.claim_from(Fence::new(0))).await);
    assert_eq!((next.attempt, next.origin), (2, Origin::AfterTakeover));
    assert!(next.fence > grant.fence, "{} follows {}", next.fence, grant.fence);
}

async fn a_crash_that_nobody_met_is_settled_likewise(store: &impl Store) {
    let intent = Intent::new();
    let (_, grant) = intent.won(store).await;
    intent.lease_ends().await;
    let settle = intent.settle(grant.fence, ended(Ending::Completed, "found"));
    assert_eq!(answered(store.settle(&settle).await), SettleReply::Settled);
    assert_eq!(replayed(store.claim(&intent.claim()).await).kept.payload, "found");
}

async fn a_settlement_recognises_itself_and_no_other(store: &impl Store) {
    let settlements = [
        ended(Ending::Completed, "1"),
        ended(Ending::Completed, "2"),
        ended(Ending::Failed, "1"),
        Settlement::RunAgain,
    ];
    for first in &settlements {
        let intent = Intent::new();
        let (_, grant) = intent.held(store).await;
        answered(store.settle(&intent.settle(grant.fence, first.clone())).await);
        for second in &settlements {
            let reply = answered(store.settle(&intent.settle(grant.fence, second.clone())).await);
            let right = if first == second { SettleReply::Settled } else { SettleReply::Changed };
            assert_eq!(reply, right, "{second:?} after {first:?}");
        }
    }
}

async fn an_attempt_that_runs_is_not_settled(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    for settlement in [ended(Ending::Completed, "found"), Settlement::RunAgain] {
        let reply = answered(store.settle(&intent.settle(grant.fence, settlement)).await);
        assert_eq!(reply, SettleReply::Live);
    }
    let complete = intent.complete(&claim, grant, "its own", false);
    assert_eq!(answered(store.complete(&complete).await), CompleteReply::Completed);
}

async fn only_the_attempt_that_was_looked_at_is_settled(store: &impl Store) {
    let intent = Intent::new();
    let run_again = |fence| intent.settle(fence, Settlement::RunAgain);
    assert_eq!(answered(store.settle(&run_again(Fence::new(1))).await), SettleReply::Absent);
    let (_, grant) = intent.held(store).await;
    let another = Fence::new(grant.fence.get() - 1);
    assert_eq!(answered(store.settle(&run_again(another)).await), SettleReply::Changed);
    let reply = answered(store.claim(&intent.claim()).await);
    assert_eq!(reply, ClaimReply::Uncertain { fence: grant.fence });
}

async fn what_its_owner_ended_is_not_settled(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    answered(store.release(&intent.release(&claim, Some(grant))).await);
    let settle = intent.settle(grant.fence, ended(Ending::Completed, "found"));
    assert_eq!(answered(store.settle(&settle).await), SettleReply::Changed, "released");
    let (claim, grant) = intent.won(store).await;
    answered(store.complete(&intent.complete(&claim, grant, "its own", false)).await);
    for settlement in [ended(Ending::Completed, "found"), Settlement::RunAgain] {
        let reply = answered(store.settle(&intent.settle(grant.fence, settlement)).await);
        assert_eq!(reply, SettleReply::Changed, "completed");
    }
    assert_eq!(replayed(store.claim(&intent.claim()).await).kept.payload, "its own");
}

async fn a_late_owner_changes_no_settlement(store: &impl Store) {
    for settlement in [ended(Ending::Completed, "found"), Settlement::RunAgain] {
        let intent = Intent::new();
        let (claim, grant) = intent.held(store).await;
        answered(store.settle(&intent.settle(grant.fence, settlement.clone())).await);
        let late = intent.complete(&claim, grant, "late", true);
        assert_eq!(answered(store.complete(&late).await), CompleteReply::Lost);
        assert_eq!(answered(store.renew(&intent.renew(&claim, grant, true)).await), RenewReply::Lost);
        assert_eq!(answered(store.release(&intent.release(&claim, Some(grant))).await), ReleaseReply::Unchanged);
        let again = answered(store.settle(&intent.settle(grant.fence, settlement)).await);
        assert_eq!(again, SettleReply::Settled, "it is as it was");
    }
}

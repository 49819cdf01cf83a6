//! A server without memory for another record: what is given up there, and what can not be.

use idem_core::Store;
use idem_core::conformance::Intent;
use idem_core::record::Origin;
use idem_core::store::{
    Claim, ClaimReply, ForgetReply, GivenUp, Grant, InspectReply, OnCrash, Release, ReleaseReply, Settlement, Standing,
    StoreError,
};
use idem_redis::RedisStore;
use test_support::RedisServer;

struct Full {
    server: RedisServer,
    store: RedisStore,
    intent: Intent,
}

impl Full {
    fn soon() -> Self {
        let server = RedisServer::start().expect("a private redis-server");
        let store = RedisStore::from_url(&server.url()).expect("a URL");
        Self { server, store, intent: Intent::new() }
    }

    fn is_full(&self, full: bool) {
        let bytes = if full { "1" } else { "0" };
        self.server.command(&["CONFIG", "SET", "maxmemory", bytes]).expect("CONFIG SET");
    }

    async fn won(&self, on_crash: OnCrash) -> (Claim, Grant) {
        let mut claim = self.intent.claim_on_crash(on_crash);
        (claim.lease, claim.linger) = (20_000, 60_000);
        match self.store.claim(&claim).await.expect("an answer") {
            ClaimReply::Acquired(grant) => (claim, grant),
            other => panic!("the claim must be acquired, not {other:?}"),
        }
    }

    /// A claim after one whose lease ended.
    async fn won_after_a_crash(&self, on_crash: OnCrash) -> (Claim, Grant) {
        self.won(OnCrash::Rerun).await;
        self.end_lease();
        self.won(on_crash).await
    }

    fn end_lease(&self) {
        let key = format!("idem:{{{}}}", self.intent.operation.text());
        self.server.command(&["PEXPIRE", &key, "39000"]).expect("PEXPIRE");
    }

    /// Gives up while the server is full; `ran` tells whether a body ran under the claim.
    async fn gives_up(&self, won: &(Claim, Grant), ran: bool, given_up: GivenUp) -> Result<ReleaseReply, StoreError> {
        let (claim, grant) = won;
        let mut release: Release = self.intent.release(claim, ran.then_some(*grant));
        release.given_up = given_up;
        self.is_full(true);
        let reply = self.store.release(&release).await;
        self.is_full(false);
        reply
    }

    async fn standing(&self) -> Option<Standing> {
        match self.store.inspect(&self.intent.operation).await.expect("an answer") {
            InspectReply::Known(known) => Some(known.standing),
            InspectReply::Absent => None,
            other => panic!("{other:?}"),
        }
    }
}

#[track_caller]
fn is_refused<R: std::fmt::Debug>(reply: &Result<R, StoreError>) {
    assert!(matches!(reply, Err(StoreError::Unavailable(_))), "{reply:?}");
}

/// Scenario F10.
#[tokio::test]
async fn where_nothing_is_forgotten_by_it_the_record_goes() {
    let full = Full::soon();
    for given_up in [GivenUp::Released, GivenUp::Rejected] {
        let won = full.won(OnCrash::Rerun).await;
        assert_eq!(full.gives_up(&won, true, given_up).await.expect("an answer"), ReleaseReply::Released);
        assert_eq!(full.standing().await, None, "{given_up:?}");
    }
}

#[tokio::test]
async fn a_takeover_is_not_forgotten_but_its_lease_ends() {
    for (ran, given_up) in [(true, GivenUp::Released), (true, GivenUp::Rejected), (false, GivenUp::Released)] {
        let full = Full::soon();
        let won = full.won_after_a_crash(OnCrash::Rerun).await;
        assert_eq!(full.gives_up(&won, ran, given_up).await.expect("an answer"), ReleaseReply::Released);
        assert_eq!(full.standing().await, Some(Standing::Abandoned), "{ran} {given_up:?}");
        let (_, next) = full.won(OnCrash::Rerun).await;
        assert_eq!((next.attempt, next.origin), (3, Origin::Takeover));
    }
}

#[tokio::test]
async fn a_doubt_is_as_unknown_as_before() {
    let full = Full::soon();
    let won = full.won_after_a_crash(OnCrash::Recover).await;
    assert_eq!(full.gives_up(&won, true, GivenUp::Released).await.expect("an answer"), ReleaseReply::Uncertain);
    assert_eq!(full.standing().await, Some(Standing::Abandoned));
    let reply = full.store.claim(&full.intent.claim()).await.expect("an answer");
    assert_eq!(reply, ClaimReply::Uncertain { fence: won.1.fence }, "nobody runs who would not ask");
}

/// Nothing that could still be written says "unknown": the caller is told, and tries again.
#[tokio::test]
async fn an_outcome_that_is_held_is_refused_and_the_claim_stays() {
    for won_by in [OnCrash::Rerun, OnCrash::Recover] {
        let full = Full::soon();
        let won = full.won_after_a_crash(won_by).await;
        is_refused(&full.gives_up(&won, true, GivenUp::Held).await);
        assert!(matches!(full.standing().await, Some(Standing::InFlight { .. })));
    }
    let full = Full::soon();
    let won = full.won_after_a_crash(OnCrash::Recover).await;
    is_refused(&full.gives_up(&won, false, GivenUp::Released).await);
}

#[tokio::test]
async fn what_was_declared_uncertain_is_given_up_only_where_nothing_is_forgotten_by_it() {
    let full = Full::soon();
    let declared = async |won: (Claim, Grant)| {
        full.end_lease();
        let reply = full.store.claim(&full.intent.claim_on_crash(OnCrash::Refuse)).await.expect("an answer");
        assert_eq!(reply, ClaimReply::Uncertain { fence: won.1.fence });
        won
    };
    let first = declared(full.won(OnCrash::Rerun).await).await;
    assert_eq!(full.gives_up(&first, true, GivenUp::Released).await.expect("an answer"), ReleaseReply::Released);
    assert_eq!(full.standing().await, None);
    let second = declared(full.won_after_a_crash(OnCrash::Rerun).await).await;
    is_refused(&full.gives_up(&second, true, GivenUp::Released).await);
    assert_eq!(full.standing().await, Some(Standing::Uncertain));
}

#[tokio::test]
async fn a_person_is_told_and_may_forget_what_is_settled() {
    let full = Full::soon();
    let (claim, grant) = full.won(OnCrash::Rerun).await;
    let complete = full.intent.complete(&claim, grant, "1", false);
    full.store.complete(&complete).await.expect("an answer");
    full.is_full(true);
    assert_eq!(full.standing().await, Some(Standing::Completed));
    let forgotten = full.store.forget(&full.intent.forget(grant.fence, false)).await.expect("an answer");
    assert_eq!(forgotten, ForgetReply::Deleted);
    full.is_full(false);

    let (_, grant): (Claim, Grant) = full.won(OnCrash::Rerun).await;
    full.end_lease();
    full.is_full(true);
    is_refused(&full.store.settle(&full.intent.settle(grant.fence, Settlement::RunAgain)).await);
    is_refused(&full.store.forget(&full.intent.forget(grant.fence, false)).await);
    is_refused(&full.store.claim(&full.intent.claim_on_crash(OnCrash::Refuse)).await);
    assert_eq!(full.standing().await, Some(Standing::Abandoned));
}

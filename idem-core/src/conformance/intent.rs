//! One intent of a scenario, and the requests for it.

use std::time::Duration;

use bytes::Bytes;

use crate::clock;
use crate::codec::Codec;
use crate::fingerprint::Fingerprint;
use crate::key::Key;
use crate::operation::Operation;
use crate::record::{Ending, Fence, Kept, Token};
use crate::store::{
    Claim, ClaimReply, Complete, Forget, GivenUp, Grant, OnCrash, Owner, Release, ReleaseReply, Renew, Replay, Settle,
    Settlement, Store,
};

/// One intent, and the requests for it: for scenarios, and for tests of a store.
#[derive(Debug, Clone)]
pub struct Intent {
    /// The identity.
    pub operation: Operation,
    /// The digest of its arguments.
    pub fingerprint: Fingerprint,
}

impl Intent {
    /// The lease of all claims.
    pub const LEASE: Duration = Duration::from_millis(LEASE);

    /// An intent that nobody has seen.
    ///
    /// # Panics
    ///
    /// Never.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "each one is another")]
    pub fn new() -> Self {
        Self::of(&rand::random::<u64>().to_string())
    }

    /// The intent named `key`.
    ///
    /// # Panics
    ///
    /// If `key` is blank.
    #[must_use]
    pub fn of(key: &str) -> Self {
        let key = Key::of(key).expect("a key that is not blank");
        let operation = Operation::new("conformance", None, &key);
        Self { operation, fingerprint: Fingerprint::from_bytes([7; 16]) }
    }

    /// The same identity with other arguments.
    #[must_use]
    pub fn with_other_arguments(&self) -> Self {
        Self { fingerprint: Fingerprint::from_bytes([8; 16]), ..self.clone() }
    }

    /// A claim under a token of its own.
    #[must_use]
    pub fn claim(&self) -> Claim {
        self.claim_from(clock::proposed_fence())
    }

    /// A claim that proposes `fence`.
    #[must_use]
    pub fn claim_from(&self, fence: Fence) -> Claim {
        Claim {
            operation: self.operation.clone(),
            fingerprint: self.fingerprint,
            token: Token::random(),
            proposed: fence,
            lease: LEASE,
            linger: LINGER,
            on_crash: OnCrash::Rerun,
            max_attempts: None,
        }
    }

    /// A claim that meets a crash so.
    #[must_use]
    pub fn claim_on_crash(&self, on_crash: OnCrash) -> Claim {
        Claim { on_crash, ..self.claim() }
    }

    /// The renewal of what `claim` won.
    #[must_use]
    pub fn renew(&self, claim: &Claim, grant: Grant, restore: bool) -> Renew {
        Renew::of(claim.clone(), grant, restore)
    }

    /// The completion of what `claim` won, with `payload`.
    #[must_use]
    pub fn complete(&self, claim: &Claim, grant: Grant, payload: impl Into<Bytes>, restore: bool) -> Complete {
        Complete {
            operation: self.operation.clone(),
            owner: Owner { token: claim.token, fence: grant.fence },
            attempt: grant.attempt,
            fingerprint: self.fingerprint,
            ending: Ending::Completed,
            kept: Kept { codec: Some(Codec::Json), payload: payload.into(), trace: None },
            retention: LINGER,
            restore,
        }
    }

    /// The release of `claim`; with its grant, if it was answered.
    #[must_use]
    pub fn release(&self, claim: &Claim, grant: Option<Grant>) -> Release {
        Release {
            operation: self.operation.clone(),
            token: claim.token,
            fence: grant.map(|grant| grant.fence),
            given_up: GivenUp::Released,
            retention: LINGER,
        }
    }

    /// The settlement of the attempt with `fence`.
    #[must_use]
    pub fn settle(&self, fence: Fence, settlement: Settlement) -> Settle {
        Settle { operation: self.operation.clone(), fence, settlement, retention: LINGER }
    }

    /// The forgetting of the attempt with `fence`.
    #[must_use]
    pub fn forget(&self, fence: Fence, force: bool) -> Forget {
        Forget { operation: self.operation.clone(), fence, force, retention: LINGER }
    }

    /// Claims, and must win.
    pub(super) async fn won(&self, store: &impl Store) -> (Claim, Grant) {
        let claim = self.claim();
        let grant = granted(store.claim(&claim).await);
        (claim, grant)
    }

    /// Claims, must win, and is declared uncertain after its lease.
    pub(super) async fn declared_uncertain(&self, store: &impl Store) -> (Claim, Grant) {
        let (claim, grant) = self.won(store).await;
        self.lease_ends().await;
        let refused = answered(store.claim(&self.claim_on_crash(OnCrash::Refuse)).await);
        assert_eq!(refused, ClaimReply::Uncertain { fence: grant.fence });
        (claim, grant)
    }

    /// Claims, must win, and gives up with an unknown outcome.
    pub(super) async fn held(&self, store: &impl Store) -> (Claim, Grant) {
        let (claim, grant) = self.won(store).await;
        let release = Release { given_up: GivenUp::Held, ..self.release(&claim, Some(grant)) };
        assert_eq!(answered(store.release(&release).await), ReleaseReply::Uncertain);
        (claim, grant)
    }

    /// Waits for the end of a lease that begins now.
    pub(super) async fn lease_ends(&self) {
        tokio::time::sleep(Self::LEASE + Duration::from_millis(20)).await;
    }
}

const LEASE: u64 = 150;
const LINGER: u64 = 60_000;

/// A second attempt of an identity of its own. Asked for under the name of another, it is a claim that the store has not
/// seen: as after a failover to a replica that had not.
pub(super) async fn won_twice(store: &impl Store) -> (Claim, Grant) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    answered(store.release(&intent.release(&claim, Some(grant))).await);
    intent.won(store).await
}

/// The grant of a claim that must have won.
#[track_caller]
pub(super) fn granted<E: std::fmt::Debug>(reply: Result<ClaimReply, E>) -> Grant {
    match reply {
        Ok(ClaimReply::Acquired(grant)) => grant,
        other => panic!("the claim must be acquired, not {other:?}"),
    }
}

/// The result of a claim that must be answered from one.
#[track_caller]
pub(super) fn replayed<E: std::fmt::Debug>(reply: Result<ClaimReply, E>) -> Replay {
    match reply {
        Ok(ClaimReply::Replay(kept)) => kept,
        other => panic!("a settled identity is replayed, not {other:?}"),
    }
}

/// The reply of a step that must be answered.
#[track_caller]
pub(super) fn answered<R, E: std::fmt::Debug>(reply: Result<R, E>) -> R {
    reply.unwrap_or_else(|error| panic!("the step must be answered, not {error:?}"))
}

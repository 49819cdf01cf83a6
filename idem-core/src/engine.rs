//! The engine: claims, and tells what a claim came to: run, replay or refuse.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::call::Named;
use crate::claim::{Held, Known};
use crate::clock::{self, Instant};
use crate::error::Failure;
use crate::fingerprint::Fingerprint;
use crate::lease::Lease;
use crate::memory::MemoryStore;
use crate::metrics::{self, Counters};
use crate::operation::Operation;
use crate::policy::{Policy, PolicyError};
use crate::record::{Origin, Token};
use crate::store::{AnyStore, Claim, ClaimReply, Grant, Release, Store, StoreError};

/// Runs operations effectively once on a store. A cheap clone; all clones are one engine.
///
/// ```
/// use idem_core::{Engine, MemoryStore, Policy};
/// use std::time::Duration;
///
/// let policy = Policy::new().lease(Duration::from_secs(10));
/// let engine = Engine::builder(MemoryStore::new()).policy(policy).build()?;
/// # Ok::<_, idem_core::PolicyError>(())
/// ```
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    store: Box<dyn AnyStore>,
    policy: Policy,
    store_bound: Duration,
}

impl Engine {
    /// An engine on `store`, with the default [`Policy`].
    #[must_use]
    pub fn new(store: impl Store) -> Self {
        let EngineBuilder { store, policy, store_bound } = Self::builder(store);
        Self(Arc::new(Inner { store, policy, store_bound }))
    }

    /// An engine on a [`MemoryStore`] of its own: for tests of code that uses idem.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::new(MemoryStore::new())
    }

    /// An engine on `store`, to be configured.
    pub fn builder(store: impl Store) -> EngineBuilder {
        EngineBuilder { store: Box::new(store), policy: Policy::new(), store_bound: Duration::from_secs(1) }
    }

    /// A call of the operation `name`, without the attribute. The name is part of the identity: keep it stable.
    pub fn operation(&self, name: impl Into<Cow<'static, str>>) -> Named {
        Named::new(name.into(), Some(self.clone()))
    }

    pub(crate) fn policy(&self) -> Policy {
        self.0.policy
    }

    pub(crate) fn store(&self) -> &dyn AnyStore {
        &*self.0.store
    }

    /// Waits for a store's answer, but no longer than the bound on every store call.
    pub(crate) async fn bounded<R>(
        &self,
        answer: impl Future<Output = Result<R, StoreError>>,
    ) -> Result<R, StoreError> {
        match tokio::time::timeout(self.0.store_bound, answer).await {
            Ok(answer) => answer,
            Err(elapsed) => Err(StoreError::Ambiguous(elapsed.into())),
        }
    }

    /// Claims: at most twice, should the first claim be answered too late to begin under its lease.
    pub(crate) async fn claim(&self, request: Request) -> Result<Started, Failure> {
        let counters = Counters::of(request.operation.shared_name());
        for _ in 0..2 {
            let sent = Instant::now();
            let claim = request.claim();
            match self.ask(&claim, &counters).await.map_err(Failure::Store)? {
                ClaimReply::Acquired(grant) => {
                    let lease = Lease::since(sent, claim.lease);
                    if lease.is_worth_starting() {
                        count_takeover(&request, grant, &counters);
                        return Ok(Started::Claimed(Held::new(
                            self.clone(),
                            request,
                            counters,
                            claim.token,
                            grant,
                            lease,
                        )));
                    }
                    self.give_up(&request, &claim, &counters).await;
                }
                ClaimReply::Stale => {}
                ClaimReply::Replay(replay) => {
                    return Known::new(request.operation.shared_name(), counters, replay).map(Started::Known);
                }
                ClaimReply::InFlight { left } => {
                    counters.add_one(metrics::CONFLICTS);
                    return Err(Failure::InFlight { retry_after: left });
                }
                ClaimReply::Mismatch => {
                    counters.add_one(metrics::MISMATCHES);
                    return Err(Failure::Mismatch);
                }
                ClaimReply::Corrupt(corrupt) => return Err(Failure::Corrupt(corrupt)),
            }
        }
        Err(Failure::TooLate)
    }

    /// Asks for a claim, once more under the same token where the answer is missing: the claim then recognises itself.
    async fn ask(&self, claim: &Claim, counters: &Counters) -> Result<ClaimReply, StoreError> {
        match self.bounded(self.store().claim(claim)).await {
            Err(StoreError::Ambiguous(_)) => self.bounded(self.store().claim(claim)).await,
            answer => answer,
        }
        .inspect_err(|error| counters.store_error("claim", error))
    }

    /// Releases a claim under which nothing ran.
    async fn give_up(&self, request: &Request, claim: &Claim, counters: &Counters) {
        let release = request.release(claim.token, None);
        if let Err(error) = self.bounded(self.store().release(&release)).await {
            counters.store_error("release", &error);
        }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("store", &self.0.store).field("policy", &self.0.policy).finish_non_exhaustive()
    }
}

/// Configures an [`Engine`].
#[derive(Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct EngineBuilder {
    store: Box<dyn AnyStore>,
    policy: Policy,
    store_bound: Duration,
}

impl EngineBuilder {
    /// The policy of operations that name none. Default: [`Policy::new`].
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// How long one store call may take before its answer counts as missing. Default: 1 s.
    pub fn store_bound(mut self, bound: Duration) -> Self {
        self.store_bound = bound;
        self
    }

    /// The engine.
    ///
    /// # Errors
    ///
    /// [`PolicyError`], if the policy has a value out of its bounds.
    pub fn build(self) -> Result<Engine, PolicyError> {
        self.policy.validate()?;
        let Self { store, policy, store_bound } = self;
        Ok(Engine(Arc::new(Inner { store, policy, store_bound })))
    }
}

/// A checked call.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) operation: Operation,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) policy: Policy,
}

impl Request {
    /// A claim for it, under a token and a fence of its own.
    fn claim(&self) -> Claim {
        Claim {
            operation: self.operation.clone(),
            fingerprint: self.fingerprint,
            token: Token::random(),
            proposed: clock::proposed_fence(),
            lease: self.policy.lease_millis(),
            linger: self.policy.linger_millis(),
        }
    }

    pub(crate) fn release(&self, token: Token, fence: Option<crate::record::Fence>) -> Release {
        Release { operation: self.operation.clone(), token, fence, retention: self.policy.linger_millis() }
    }
}

/// What a claim came to, where it was not refused.
pub(crate) enum Started {
    /// The body may run.
    Claimed(Held),
    /// The result is known.
    Known(Known),
}

fn count_takeover(request: &Request, grant: Grant, counters: &Counters) {
    if grant.origin == Origin::Takeover {
        counters.add_one(metrics::TAKEOVERS);
        tracing::warn!(
            operation = request.operation.name(),
            attempt = grant.attempt,
            fence = grant.fence.get(),
            "took over from an attempt whose lease ran out; it may have had its effect"
        );
    }
}

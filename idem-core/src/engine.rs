//! The engine: claims, and tells what a claim came to: run, replay or refuse.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime;

use crate::builder::{EngineBuilder, Settings};
use crate::call::Named;
use crate::claim::{Claimed, Held, Known};
use crate::clock::{self, Instant};
use crate::codec::Codec;
use crate::error::{Error, Failure};
use crate::fingerprint::Fingerprint;
use crate::keeper::{self, Errand, Keeper};
use crate::lease::Lease;
use crate::memory::MemoryStore;
use crate::metrics::{self, Counters};
use crate::names::Names;
use crate::operation::Operation;
use crate::policy::Policy;
use crate::record::{Fence, Origin, Token};
use crate::store::{
    AnyStore, Claim, ClaimReply, Complete, CompleteReply, Grant, Release, ReleaseReply, Store, StoreError,
    StoreErrorKind,
};

/// Runs operations effectively once on a store. A cheap clone; all clones are one engine.
///
/// ```
/// use idem_core::{Engine, MemoryStore, Policy};
/// use std::time::Duration;
///
/// let policy = Policy::new().lease(Duration::from_secs(10));
/// let engine = Engine::builder(MemoryStore::new()).policy(policy).build()?;
/// # Ok::<_, idem_core::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    settings: Settings,
    names: Names,
    keepers: Mutex<HashMap<runtime::Id, Keeper>>,
}

impl Engine {
    /// An engine on `store`, with the default [`Policy`].
    #[must_use]
    pub fn new(store: impl Store) -> Self {
        Self::builder(store).unchecked()
    }

    /// An engine on a [`MemoryStore`] of its own: for tests of code that uses idem.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::new(MemoryStore::new())
    }

    /// An engine on `store`, to be configured.
    pub fn builder(store: impl Store) -> EngineBuilder {
        EngineBuilder::new(store)
    }

    pub(crate) fn built(settings: Settings) -> Self {
        Self(Arc::new(Inner { settings, names: Names::new(), keepers: Mutex::default() }))
    }

    /// A call of the operation `name`, without the attribute. The name is part of the identity: keep it stable.
    pub fn operation(&self, name: impl Into<Cow<'static, str>>) -> Named {
        Named::new(name.into(), Some(self.clone()))
    }

    pub(crate) fn policy(&self) -> Policy {
        self.0.settings.policy
    }

    pub(crate) fn names(&self) -> &Names {
        &self.0.names
    }

    pub(crate) fn codec(&self) -> Codec {
        self.0.settings.codec
    }

    pub(crate) fn store(&self) -> &dyn AnyStore {
        &*self.0.settings.store
    }

    /// What the application makes of a payload that its type of today cannot read.
    pub(crate) fn migrate(&self, operation: &str, codec: Codec, payload: &[u8]) -> Option<Vec<u8>> {
        self.0.settings.migrate.as_ref().and_then(|migrate| migrate(operation, codec, payload))
    }

    /// Claims: the one step that every call begins with.
    pub(crate) async fn claim(self, request: Request) -> Result<Started, Error> {
        let operation = request.operation.shared_name();
        self.win(request).await.map_err(|failure| Error::refusing(operation, failure))
    }

    /// Claims at most twice, should the first claim be answered too late to begin under its lease.
    async fn win(&self, request: Request) -> Result<Started, Failure> {
        let counters = Counters::of(request.operation.shared_name());
        let keeper = self.keeper();
        for _ in 0..2 {
            let sent = Instant::now();
            let claim = request.claim();
            match self.ask(&keeper, &request, &claim, &counters).await? {
                ClaimReply::Acquired(grant) => {
                    let lease = Lease::since(sent, claim.lease);
                    if lease.is_worth_starting() {
                        count_takeover(&request, grant, &counters);
                        let claimed = Claimed::new(request, claim, grant, lease, counters);
                        return Ok(Started::Claimed(Box::new(Held::new(self.clone(), keeper, claimed))));
                    }
                    // Given up before the next one is sent, which would else meet this one in flight.
                    let mut late = Unanswered {
                        keeper: &keeper,
                        request: &request,
                        claim: &claim,
                        counters: &counters,
                        may_hold: true,
                    };
                    let release = request.release(claim.token, None);
                    late.may_hold = Box::pin(self.try_release(&release)).await.is_err();
                }
                ClaimReply::Stale => {}
                ClaimReply::Replay(replay) => {
                    let operation = request.operation.shared_name();
                    return Known::new(self.clone(), operation, counters, replay).map(Started::Known);
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

    /// Asks for a claim, again under the same token while the answer is missing and the bound is not over: the claim then
    /// recognises itself.
    ///
    /// A claim that stays unanswered, also because the caller is gone, is released: nothing can have run under it.
    async fn ask(
        &self,
        keeper: &Keeper,
        request: &Request,
        claim: &Claim,
        counters: &Counters,
    ) -> Result<ClaimReply, Failure> {
        let mut unanswered = Unanswered { keeper, request, claim, counters, may_hold: true };
        let until = Instant::now() + self.0.settings.store_bound;
        let mut pause = FIRST_PAUSE;
        let mut ambiguous = None;
        let answer = loop {
            // Half of what is left, so that there is time to ask again, on another connection.
            let left = until.saturating_duration_since(Instant::now());
            match self.bounded(left / 2, self.store().claim(claim)).await {
                Ok(reply) => break Ok(reply),
                Err(error) if ambiguous.is_none() && error.kind() == StoreErrorKind::Unavailable => break Err(error),
                // Once an answer is missing, only a reply tells what became of that request.
                Err(error) => {
                    let first = ambiguous.take().unwrap_or(error);
                    if !wait(&mut pause, until).await {
                        break Err(first);
                    }
                    ambiguous = Some(first);
                }
            }
        };
        unanswered.may_hold = matches!(&answer, Err(error) if error.kind() == StoreErrorKind::Ambiguous);
        answer.map_err(|error| {
            counters.store_error("claim", &error);
            Failure::Store(error)
        })
    }

    /// Sends a completion, again and again until `until` and once more after it if there is no clear answer: the same
    /// completion recognises itself.
    pub(crate) async fn complete(
        &self,
        request: &mut Complete,
        counters: &Counters,
        until: Instant,
    ) -> Result<CompleteReply, StoreError> {
        let until = until.min(Instant::now() + LONGEST_RETRY);
        let (mut pause, mut may_restore) = (FIRST_PAUSE, true);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            request.restore = may_restore && !left.is_zero();
            // What may be written again only under a live lease must not arrive after it.
            let bound = if request.restore { left } else { self.0.settings.store_bound };
            match self.bounded(bound, self.store().complete(request)).await {
                Err(_) if wait(&mut pause, until).await => {}
                // What was left was too little for an answer. Nobody need have followed: once more, in the store's own time.
                Err(_) if request.restore => may_restore = false,
                answer => return answer.inspect_err(|error| counters.store_error("complete", error)),
            }
        }
    }

    /// Sends a release, again and again until `until` if there is no clear answer.
    pub(crate) async fn release(&self, request: &Release, counters: &Counters, until: Instant) {
        let until = until.min(Instant::now() + LONGEST_RETRY);
        let mut pause = FIRST_PAUSE;
        while let Err(error) = self.try_release(request).await {
            if !wait(&mut pause, until).await {
                return counters.store_error("release", &error);
            }
        }
    }

    /// Sends a release once.
    pub(crate) async fn try_release(&self, request: &Release) -> Result<ReleaseReply, StoreError> {
        self.bounded(self.0.settings.store_bound, self.store().release(request)).await
    }

    /// Waits for a store's answer, but no longer than `bound`, nor than the bound on every store call.
    pub(crate) async fn bounded<R>(
        &self,
        bound: Duration,
        answer: impl Future<Output = Result<R, StoreError>>,
    ) -> Result<R, StoreError> {
        match tokio::time::timeout(bound.min(self.0.settings.store_bound), answer).await {
            Ok(answer) => answer,
            Err(elapsed) => Err(StoreError::Ambiguous(elapsed.into())),
        }
    }

    /// The keeper of this runtime's claims; their first one starts it.
    fn keeper(&self) -> Keeper {
        let home = keeper::home();
        let runtime = home.id();
        let (keeper, is_new) = match self.0.keepers().entry(runtime) {
            Entry::Occupied(running) => (running.get().clone(), false),
            Entry::Vacant(place) => (place.insert(Keeper::default()).clone(), true),
        };
        // Started outside the lock: on a runtime that is shutting down the task ends at once.
        if is_new {
            let engine = self.downgrade();
            keeper.start(&home, self.downgrade(), move || {
                if let Some(engine) = engine.upgrade() {
                    engine.0.keepers().remove(&runtime);
                }
            });
        }
        keeper
    }

    fn downgrade(&self) -> WeakEngine {
        WeakEngine(Arc::downgrade(&self.0))
    }
}

impl Inner {
    fn keepers(&self) -> MutexGuard<'_, HashMap<runtime::Id, Keeper>> {
        self.keepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        for keeper in self.keepers().values() {
            keeper.ring();
        }
    }
}

/// An engine that may be gone.
pub(crate) struct WeakEngine(Weak<Inner>);

impl WeakEngine {
    pub(crate) fn upgrade(&self) -> Option<Engine> {
        self.0.upgrade().map(Engine)
    }
}

/// A claim without an answer, or with one that came too late. Dropped, it is released by its token alone, through the
/// keeper.
struct Unanswered<'a> {
    keeper: &'a Keeper,
    request: &'a Request,
    claim: &'a Claim,
    counters: &'a Counters,
    /// Whether the claim may have won, for all that is known.
    may_hold: bool,
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        if !self.may_hold {
            return;
        }
        let until = Instant::now() + Duration::from_millis(self.claim.lease);
        let release = self.request.release(self.claim.token, None);
        self.keeper.send(Errand::Release(release), self.counters.clone(), until);
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// However long a lease is, a caller does not wait longer for its result to be recorded.
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// Waits before the next try, longer each time. `false`, at once, where there is no time for another try.
async fn wait(pause: &mut Duration, until: Instant) -> bool {
    if Instant::now() + *pause >= until {
        return false;
    }
    tokio::time::sleep(*pause).await;
    *pause = (*pause * 2).min(LONGEST_PAUSE);
    true
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("store", &self.0.settings.store)
            .field("policy", &self.0.settings.policy)
            .finish_non_exhaustive()
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

    pub(crate) fn release(&self, token: Token, fence: Option<Fence>) -> Release {
        Release { operation: self.operation.clone(), token, fence, retention: self.policy.linger_millis() }
    }
}

/// What a claim came to, where it was not refused.
pub(crate) enum Started {
    /// The body may run.
    Claimed(Box<Held>),
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

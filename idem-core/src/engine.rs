//! The engine: what all calls of one application share.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime;

use crate::builder::{EngineBuilder, Settings};
use crate::call::Named;
use crate::codec::Codec;
use crate::instruments::{Instrumentation, Instruments, StoreTimes};
use crate::keeper::{self, Keeper};
use crate::memory::MemoryStore;
use crate::names::Names;
use crate::operation::Operation;
use crate::policy::Policy;
use crate::shown::ShownKey;
use crate::store::{AnyStore, Store};
use crate::visits::{Visit, Visits};

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
    visits: Arc<Visits>,
    instrumentation: Instrumentation,
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
        let (names, keepers, visits) = (Names::new(), Mutex::default(), Arc::default());
        Self(Arc::new(Inner { settings, names, keepers, visits, instrumentation: Instrumentation::default() }))
    }

    /// A call of the operation `name`, without the attribute. The name is part of the identity: keep it stable.
    pub fn operation(&self, name: impl Into<Cow<'static, str>>) -> Named {
        Named::new(name.into(), Some(self.clone()))
    }

    /// Closes the engine: calls that begin from now on end with [`ShutDown`](crate::ErrorKind::ShutDown), those that run may
    /// finish within `limit`. Returns how many were left then: calls, and what calls that ended still had to send.
    ///
    /// Nothing is recorded of what is left: nobody can know how far it came. As long as the process lives it goes on and is
    /// recorded when it ends; with the process it ends as a crash, and the next call takes over after its lease.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// # let engine = idem_core::Engine::in_memory();
    /// let left = engine.shutdown(std::time::Duration::from_secs(20)).await;
    /// if left > 0 {
    ///     eprintln!("{left} calls are cut short; their repeats will be takeovers");
    /// }
    /// # }
    /// ```
    pub async fn shutdown(&self, limit: Duration) -> usize {
        self.0.visits.close(limit).await
    }

    pub(crate) fn enter(&self) -> Option<Visit> {
        self.0.visits.enter()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.visits.is_closed()
    }

    pub(crate) fn store_bound(&self) -> Duration {
        self.0.settings.store_bound
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

    pub(crate) fn instruments(&self, operation: Cow<'static, str>) -> Arc<Instruments> {
        self.0.instrumentation.of(operation)
    }

    /// The store's times, where no operation is known.
    pub(crate) fn store_times(&self) -> Arc<StoreTimes> {
        self.0.instrumentation.store()
    }

    /// The identity's key as logs and traces may show it.
    pub(crate) fn shown_key<'a>(&'a self, operation: &'a Operation) -> ShownKey<'a> {
        self.0.settings.shown_keys.of(operation)
    }

    /// What the application makes of a payload that its type of today cannot read.
    pub(crate) fn migrate(&self, operation: &str, codec: Codec, payload: &[u8]) -> Option<Vec<u8>> {
        self.0.settings.migrate.as_ref().and_then(|migrate| migrate(operation, codec, payload))
    }

    /// The keeper of this runtime's claims; their first one starts it.
    pub(crate) fn keeper(&self) -> Keeper {
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

    pub(crate) fn downgrade(&self) -> WeakEngine {
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

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("store", &self.0.settings.store)
            .field("policy", &self.0.settings.policy)
            .finish_non_exhaustive()
    }
}

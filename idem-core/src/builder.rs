//! How an engine is configured.

use std::fmt;
use std::time::Duration;

use crate::codec::Codec;
use crate::engine::Engine;
use crate::policy::{ConfigError, Policy};
use crate::shown::ShownKeys;
use crate::store::{AnyStore, Store};

const MIN_BOUND: Duration = Duration::from_millis(10);
const MAX_BOUND: Duration = Duration::from_secs(3600);

/// Configures an [`Engine`].
#[must_use = "a builder does nothing until it builds"]
pub struct EngineBuilder(Settings);

/// What an engine is made of.
pub(crate) struct Settings {
    pub(crate) store: Box<dyn AnyStore>,
    pub(crate) policy: Policy,
    pub(crate) codec: Codec,
    pub(crate) migrate: Option<Box<Migrate>>,
    pub(crate) store_bound: Duration,
    pub(crate) shown_keys: ShownKeys,
}

pub(crate) type Migrate = dyn Fn(&str, Codec, &[u8]) -> Option<Vec<u8>> + Send + Sync;

impl EngineBuilder {
    pub(crate) fn new(store: impl Store) -> Self {
        Self(Settings {
            store: Box::new(store),
            policy: Policy::new(),
            codec: Codec::default(),
            migrate: None,
            store_bound: Duration::from_secs(1),
            shown_keys: ShownKeys::default(),
        })
    }

    /// The policy of operations that name none. Default: [`Policy::new`].
    pub fn policy(mut self, policy: Policy) -> Self {
        self.0.policy = policy;
        self
    }

    /// How results are encoded from now on; kept ones are read as they were written. Default: JSON.
    pub fn codec(mut self, codec: Codec) -> Self {
        self.0.codec = codec;
        self
    }

    /// What to do with a kept result that its function's type of today cannot read: given the operation's name, the codec
    /// and the payload (of a value, or of an error that the function keeps), `migrate` may make a payload that it can read.
    /// Never a re-run. Default: the call gets
    /// [`Undecodable`](crate::ErrorKind::Undecodable).
    ///
    /// ```
    /// use idem_core::{Engine, MemoryStore};
    ///
    /// // Before, `payments.charge` returned a bare number; now it returns `{"id": …}`.
    /// let engine = Engine::builder(MemoryStore::new())
    ///     .migrate(|operation, _codec, payload| {
    ///         let id = std::str::from_utf8(payload).ok()?;
    ///         (operation == "payments.charge").then(|| format!(r#"{{"id":{id}}}"#).into_bytes())
    ///     })
    ///     .build()?;
    /// # Ok::<_, idem_core::ConfigError>(())
    /// ```
    pub fn migrate(mut self, migrate: impl Fn(&str, Codec, &[u8]) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        self.0.migrate = Some(Box::new(migrate));
        self
    }

    /// How long one store call may take before its answer counts as missing: from 10 ms to an hour. Default: 1 s.
    pub fn store_bound(mut self, bound: Duration) -> Self {
        self.0.store_bound = bound;
        self
    }

    /// Shows keys as they are in spans, scope included, instead of as a digest. They reach whatever collects logs and traces:
    /// not for keys that name people or hold secrets. Default: `false`.
    pub fn log_keys(mut self, readable: bool) -> Self {
        self.0.shown_keys = if readable { ShownKeys::Readable } else { ShownKeys::default() };
        self
    }

    /// Shows keys in spans as a digest under `secret`, so that all processes that are given the same one show a key alike.
    /// Default: a secret that the process makes up, so that a key is found again within its own logs alone.
    ///
    /// ```
    /// # use idem_core::{Engine, MemoryStore};
    /// # let secret = "from the application's configuration";
    /// let engine = Engine::builder(MemoryStore::new()).log_digest_secret(secret).build()?;
    /// # Ok::<_, idem_core::ConfigError>(())
    /// ```
    pub fn log_digest_secret(mut self, secret: impl AsRef<[u8]>) -> Self {
        self.0.shown_keys = ShownKeys::under(secret.as_ref());
        self
    }

    /// The engine.
    ///
    /// # Errors
    ///
    /// [`ConfigError`], if the policy or the bound on store calls is out of its bounds.
    pub fn build(self) -> Result<Engine, ConfigError> {
        self.0.policy.validate()?;
        if !(MIN_BOUND..=MAX_BOUND).contains(&self.0.store_bound) {
            return Err(ConfigError::StoreBound);
        }
        Ok(self.unchecked())
    }

    /// The engine, where the policy is known to be valid.
    pub(crate) fn unchecked(self) -> Engine {
        Engine::built(self.0)
    }
}

impl fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { store, policy, codec, store_bound, .. } = &self.0;
        f.debug_struct("EngineBuilder")
            .field("store", store)
            .field("policy", policy)
            .field("codec", codec)
            .field("store_bound", store_bound)
            .finish_non_exhaustive()
    }
}

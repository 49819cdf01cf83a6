//! One call on its way: what is asked for, checked before anything is sent, then run, replayed or refused.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;

use serde::Serialize;

use crate::attempt::Attempt;
use crate::engine::{Engine, Request, Started};
use crate::error::{Error, Failure};
use crate::expansion::Site;
use crate::fingerprint::{Argument, Fingerprint, FingerprintBuilder, FingerprintError};
use crate::install;
use crate::key::{IdempotencyKey, InvalidKey, Key, KeyOnly};
use crate::operation::Operation;
use crate::policy::Policy;
use crate::reply::{Reply, Returns, returns};

/// An operation by name, still without a key; made by [`Engine::operation`].
#[derive(Debug, Clone)]
#[must_use = "an operation does nothing until a call of it runs"]
pub struct Named {
    name: Cow<'static, str>,
    site: Option<&'static Site>,
    engine: Option<Engine>,
    policy: Option<Policy>,
    retention: Option<Duration>,
    lease: Option<Duration>,
}

impl Named {
    pub(crate) fn new(name: Cow<'static, str>, engine: Option<Engine>) -> Self {
        Self { name, site: None, engine, policy: None, retention: None, lease: None }
    }

    /// The operation of an annotated function.
    pub(crate) fn of_site(site: &'static Site) -> Self {
        Self { site: Some(site), ..Self::new(site.name(), None) }
    }

    /// Single values that win over the policy.
    pub(crate) fn overriding(mut self, retention: Option<Duration>, lease: Option<Duration>) -> Self {
        self.retention = retention;
        self.lease = lease;
        self
    }

    /// Runs on `engine`.
    pub fn engine(mut self, engine: &Engine) -> Self {
        self.engine = Some(engine.clone());
        self
    }

    /// Runs under `policy` instead of the engine's.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Names the intent: the same `key` on every repeat, another one for every other intent.
    ///
    /// An absent or blank key is refused when the call is made, with [`InvalidKey`](crate::ErrorKind::InvalidKey). What a
    /// key of a type of its own says [beyond its text](IdempotencyKey::fingerprint) is compared.
    pub fn key<K: IdempotencyKey + ?Sized>(self, key: &K) -> Call {
        let arguments = Arguments::Listed(key.fingerprint(FingerprintBuilder::new()));
        Call { named: self, key: Key::of(key), scope: None, arguments }
    }

    /// [`key`](Self::key), but for what it says beyond its text.
    #[doc(hidden)]
    pub fn key_only<K: IdempotencyKey + ?Sized>(self, key: &K) -> Call {
        self.key(&KeyOnly(key))
    }
}

/// A call of an operation with its key.
#[must_use = "a call does nothing until it runs"]
pub struct Call {
    named: Named,
    key: Result<Key, InvalidKey>,
    scope: Option<Result<Key, InvalidKey>>,
    arguments: Arguments,
}

enum Arguments {
    /// One by one, in order.
    Listed(FingerprintBuilder),
    /// As a whole.
    Given(Result<Fingerprint, FingerprintError>),
}

impl Call {
    /// Puts the key under `scope` (a tenant): equal keys of different scopes are different intents.
    pub fn scope<K: IdempotencyKey + ?Sized>(mut self, scope: &K) -> Self {
        self.scope = Some(Key::of(scope));
        self
    }

    /// Binds the key to `arguments`: a repeat with others is refused with [`Mismatch`](crate::ErrorKind::Mismatch). They
    /// replace what the key itself says [beyond its text](IdempotencyKey::fingerprint), which for a text or a number is
    /// nothing: without this no mismatch is then ever seen.
    pub fn fingerprint<T: Serialize + ?Sized>(mut self, arguments: &T) -> Self {
        self.arguments = Arguments::Given(Fingerprint::of(arguments));
        self
    }

    /// Appends one argument to the fingerprint.
    #[doc(hidden)]
    pub fn arg<T: Argument + ?Sized>(mut self, argument: &T) -> Self {
        self.arguments = match self.arguments {
            Arguments::Listed(listed) => Arguments::Listed(argument.add_to(listed)),
            given @ Arguments::Given(_) => given,
        };
        self
    }

    /// Runs `body` unless its result is known, and keeps the result.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), idem_core::Error> {
    /// # let engine = idem_core::Engine::in_memory();
    /// # let (order, cents) = ("order-1", 4200_u64);
    /// let receipt = engine
    ///     .operation("payments.charge")
    ///     .key(order)
    ///     .fingerprint(&(order, cents))
    ///     .run(async |attempt| -> Result<String, idem_core::Error> {
    ///         Ok(format!("charged in attempt {}", attempt.number()))
    ///     })
    ///     .await?;
    /// assert_eq!(receipt, "charged in attempt 1");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// The body's own error, unchanged: the claim is then released, and the next call runs. Otherwise an [`Error`], in
    /// the body's error type; [`Error::may_have_run`] tells whether there can have been an effect.
    ///
    /// # Panics
    ///
    /// If the body panics. The panic passes unchanged and counts as a crash: the lease runs out, then the next call takes
    /// over.
    ///
    /// # Cancellation
    ///
    /// Dropped while the body runs, nobody can know how far it came: nothing more is sent, the lease runs out, and the
    /// next call takes over.
    pub async fn run<R: Reply>(self, body: impl AsyncFnOnce(Attempt) -> R) -> R {
        let returns = returns::<R>();
        match self.start().await {
            Ok(Started::Claimed(mut claim)) => {
                // What stands before the closure's first await is part of the body as well.
                claim.begin();
                let body = pin!(body(claim.attempt()));
                claim.run(returns, body).await
            }
            Ok(Started::Known(known)) => known.replay(returns),
            Err(error) => (returns.refusal)(error),
        }
    }

    /// [`run`](Self::run) for the attribute: the body is a future of its own, pinned where it was made.
    #[doc(hidden)]
    pub fn run_pinned<R, F: Future<Output = R>>(
        self,
        returns: Returns<R>,
        body: Pin<&mut F>,
    ) -> impl Future<Output = R> {
        // Outside the future, which would otherwise hold the call as well as what became of it.
        let started = self.start();
        async move {
            match started.await {
                Ok(Started::Claimed(claim)) => claim.run(returns, body).await,
                Ok(Started::Known(known)) => known.replay(returns),
                Err(error) => (returns.refusal)(error),
            }
        }
    }

    /// Checks what is asked for, then claims. Boxed: an annotated function's future holds a pointer for all of it.
    fn start(self) -> Pin<Box<dyn Future<Output = Result<Started, Error>> + Send>> {
        let name = self.named.name.clone();
        // Checked outside the future, which need not hold what is asked for as well as what is made of it.
        match self.checked() {
            Ok((engine, request)) => Box::pin(engine.claim(request)),
            Err(failure) => Box::pin(std::future::ready(Err(Error::refusing(name, failure)))),
        }
    }

    fn checked(self) -> Result<(Engine, Request), Failure> {
        let engine = match self.named.engine {
            Some(engine) => engine,
            None => install::current().ok_or(Failure::NoEngine)?,
        };
        if let Some(site) = self.named.site {
            engine.names().check(site).map_err(Failure::Name)?;
        }
        let mut policy = self.named.policy.unwrap_or_else(|| engine.policy());
        policy = self.named.retention.map_or(policy, |retention| policy.retention(retention));
        policy = self.named.lease.map_or(policy, |lease| policy.lease(lease));
        policy.validate().map_err(Failure::Policy)?;
        let key = self.key.map_err(Failure::InvalidKey)?;
        let scope = self.scope.transpose().map_err(Failure::InvalidKey)?;
        let fingerprint = match self.arguments {
            Arguments::Listed(listed) => listed.finish(),
            Arguments::Given(given) => given,
        };
        let fingerprint = fingerprint.map_err(Failure::InvalidArguments)?;
        let operation = Operation::new(self.named.name, scope.as_ref(), &key);
        Ok((engine, Request { operation, fingerprint, policy }))
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("named", &self.named).finish_non_exhaustive()
    }
}

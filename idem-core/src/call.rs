//! One call on its way: what is asked for, checked before anything is sent, then run, replayed or refused.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde::Serialize;

use crate::attempt::Attempt;
use crate::engine::Engine;
use crate::error::{Error, Failure};
use crate::expansion::Site;
use crate::fingerprint::{Argument, Fingerprint, FingerprintBuilder, FingerprintError};
use crate::held::Held;
use crate::install;
use crate::judge::KeepableError;
use crate::judged::{Judged, Recovering};
use crate::key::{IdempotencyKey, InvalidKey, Key, KeyOnly};
use crate::observed::{self, Observed};
use crate::operation::Operation;
use crate::policy::{ConfigError, Policy};
use crate::reply::{Reply, Returns, returns};
use crate::request::Request;
use crate::start::Started;
use crate::store::OnCrash;

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
        Call { named: self, key: Key::of(key), scope: None, arguments, asks: false }
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
    /// Whether it can ask what became of an earlier attempt.
    asks: bool,
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

    /// Leaves the outcome unknown after the errors that `which` picks (a timeout): nothing runs under the key until the
    /// outcome is settled. See [`Judged::hold`].
    pub fn hold<E>(self, which: fn(&E) -> bool) -> Judged<E> {
        Judged::new(self).hold(which)
    }

    /// Keeps the errors that `which` picks, and replays them as results. See [`Judged::keep`].
    pub fn keep<E: KeepableError>(self, which: fn(&E) -> bool) -> Judged<E> {
        Judged::new(self).keep(which)
    }

    /// Lets other arguments follow after the errors that `which` picks: nothing happened. See [`Judged::reject`].
    pub fn reject<E>(self, which: fn(&E) -> bool) -> Judged<E> {
        Judged::new(self).reject(which)
    }

    /// Asks for the outcome of an earlier attempt that ended without an answer, before the body runs. See
    /// [`Judged::recover`].
    pub fn recover<T, E, A>(self, ask: A) -> Recovering<E, A>
    where
        A: AsyncFnOnce() -> Result<Option<T>, E>,
    {
        Judged::new(self).recover(ask)
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
        self.run_as(&returns(), body).await
    }

    pub(crate) async fn run_as<R, E>(self, returns: &Returns<R, E>, body: impl AsyncFnOnce(Attempt) -> R) -> R {
        match claimed(self.start(returns).await, returns) {
            Ok(claim) => claim.run_closure(returns, body).await,
            Err(answer) => answer,
        }
    }

    /// [`run`](Self::run) for the attribute: the body is a future of its own, pinned where it was made.
    #[doc(hidden)]
    pub fn run_pinned<R, E, F: Future<Output = R>>(
        self,
        returns: &Returns<R, E>,
        body: Pin<&mut F>,
    ) -> impl Future<Output = R> {
        // Outside the future, which would otherwise hold the call as well as what became of it.
        let started = self.start(returns);
        async move {
            match claimed(started.await, returns) {
                Ok(claim) => claim.run(returns, body).await,
                Err(answer) => answer,
            }
        }
    }

    /// The first half of a call that can ask what became of an earlier attempt; the other one is
    /// [`Ready::run_pinned`]. `Err` is the call's answer: nothing more is to run.
    #[doc(hidden)]
    pub fn ask_pinned<R, E, A: Future<Output = Option<R>>>(
        mut self,
        returns: &Returns<R, E>,
        ask: Pin<&mut A>,
    ) -> impl Future<Output = Result<Ready, R>> {
        self.asks = true;
        let started = self.start(returns);
        async move {
            match claimed(started.await, returns)? {
                claim if claim.is_in_doubt() => claim.ask(returns, ask).await.map(Ready),
                claim => Ok(Ready(claim)),
            }
        }
    }

    /// Checks what is asked for, then claims. Boxed: an annotated function's future holds a pointer for all of it.
    pub(crate) fn start<R, E>(
        self,
        returns: &Returns<R, E>,
    ) -> Pin<Box<dyn Future<Output = Result<Started, Error>> + Send>> {
        let name = self.named.name.clone();
        let Some(engine) = self.named.engine.clone().or_else(install::current) else {
            return Box::pin(async move { Err(observed::no_engine(name)) });
        };
        // Checked outside the future, which need not hold what is asked for as well as what is made of it.
        match self.checked(&engine, returns.may_hold()) {
            Ok(request) => Box::pin(engine.claim(request)),
            Err(failure) => Box::pin(async move { Err(Observed::begin(&engine, name, None).refuse(failure)) }),
        }
    }

    fn checked(self, engine: &Engine, may_hold: bool) -> Result<Request, Failure> {
        if let Some(site) = self.named.site {
            engine.names().check(site).map_err(Failure::Name)?;
        }
        let mut policy = self.named.policy.unwrap_or_else(|| engine.policy());
        policy = self.named.retention.map_or(policy, |retention| policy.retention(retention));
        policy = self.named.lease.map_or(policy, |lease| policy.lease(lease));
        policy.validate().map_err(Failure::Policy)?;
        let on_crash = match policy.crash() {
            _ if self.asks => OnCrash::Recover,
            OnCrash::Recover => return Err(Failure::Policy(ConfigError::NothingToAsk)),
            chosen => chosen,
        };
        let key = self.key.map_err(Failure::InvalidKey)?;
        let scope = self.scope.transpose().map_err(Failure::InvalidKey)?;
        let fingerprint = match self.arguments {
            Arguments::Listed(listed) => listed.finish(),
            Arguments::Given(given) => given,
        };
        let fingerprint = fingerprint.map_err(Failure::InvalidArguments)?;
        let operation = Operation::new(self.named.name, scope.as_ref(), &key);
        Ok(Request { operation, fingerprint, policy, on_crash, may_hold })
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("named", &self.named).finish_non_exhaustive()
    }
}

/// The claim whose body is to run. `Err` is the call's answer without.
#[inline(never)]
pub(crate) fn claimed<R, E>(started: Result<Started, Error>, returns: &Returns<R, E>) -> Result<Box<Held>, R> {
    match started {
        Ok(Started::Claimed(claim)) => Ok(claim),
        Ok(Started::Known(known)) => Err(known.replay(returns)),
        Err(error) => Err((returns.refusal)(error)),
    }
}

/// A call whose body is to run; see [`Call::ask_pinned`].
#[doc(hidden)]
#[must_use]
pub struct Ready(pub(crate) Box<Held>);

impl Ready {
    #[doc(hidden)]
    pub async fn run_pinned<R, E>(self, returns: &Returns<R, E>, body: Pin<&mut impl Future<Output = R>>) -> R {
        self.0.run(returns, body).await
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ready")
    }
}

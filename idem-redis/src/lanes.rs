//! Lanes: the store's own connections, shared by pipelining.
//!
//! They are made through the pool's manager (its address, credentials and TLS), but take no permit from the pool and are
//! never among its connections: another user's `MULTI` or `BLPOP` would swallow our commands, and an exhausted pool would
//! stop us. A connection lives on the runtime that made it, so each runtime has its own.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use deadpool::managed::Manager as _;
use deadpool_redis::Pool;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use idem_core::metrics::LIVE_LANES;
use metrics::{Gauge, gauge};
use redis::aio::MultiplexedConnection;
use redis::{Cmd, Pipeline, Value};
use tokio::runtime::{Handle, Id};
use tokio::task::AbortHandle;

use crate::epoch::Epochs;
use crate::error::{RedisCause, Trouble};

/// How long a call waits for a connection to be made. Less than the engine gives a first try by default, so that a server
/// that cannot be reached is told from one that does not answer: nothing was sent.
const CONNECT_WAIT: Duration = Duration::from_millis(400);

/// How long making a connection may take, where the pool's own limit (1 s unless set) does not end it sooner.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// After a connection could not be made, calls are told so for this long before the next one is tried: a server that comes
/// back is not met by a connection a call.
const CONNECT_PAUSE: Duration = Duration::from_millis(50);

/// Calls that gave up waiting for as long as this together, while the lane answered nothing, mean that it never will: its
/// server, or something on the way there, is gone without a word.
const SILENCE_MILLIS: u64 = 250;

/// The engine bounds what it waits for; this ends what nobody waits for any more.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// The lanes of one store.
pub(crate) struct Lanes {
    maker: Maker,
    count: NonZeroUsize,
    by_runtime: Arc<Mutex<HashMap<Id, Arc<RuntimeLanes>>>>,
}

/// Makes connections.
#[derive(Clone)]
struct Maker {
    pool: Pool,
    epochs: Arc<Epochs>,
}

/// The lanes of one runtime.
struct RuntimeLanes {
    shared: Box<[Slot]>,
    next: AtomicUsize,
    /// Of its own, so that a large replay delays no renewal.
    keepers: Slot,
    canary: OnceLock<AbortHandle>,
}

/// The place of one lane: the lane comes and goes with its connection.
#[derive(Default)]
struct Slot(Arc<Mutex<Connection>>);

/// What is known of the connection.
#[derive(Default)]
enum Connection {
    #[default]
    None,
    /// One attempt for all who wait.
    Attempt(Attempt),
    Made(Lane),
    Failed(Trouble, Instant),
}

type Attempt = Shared<BoxFuture<'static, Result<Lane, Trouble>>>;

/// One connection. A cheap clone.
#[derive(Clone)]
pub(crate) struct Lane {
    connection: MultiplexedConnection,
    state: Arc<LaneState>,
}

#[derive(Default)]
struct LaneState {
    _counted: LiveLane,
    /// For how long calls have waited in vain since the last answer, in milliseconds, all together.
    waited: AtomicU64,
    spoiled: AtomicBool,
    lacks_fast_claim: AtomicBool,
}

/// A question on its way. Dropped without an answer, the wait was in vain.
struct Waiting<'a> {
    state: &'a LaneState,
    since: Instant,
}

impl Lanes {
    pub(crate) fn new(pool: Pool, count: NonZeroUsize) -> Self {
        Self { maker: Maker { pool, epochs: Arc::default() }, count, by_runtime: Arc::default() }
    }

    /// The next lane in turn.
    pub(crate) async fn lane(&self) -> Result<Lane, Trouble> {
        let lanes = self.of_this_runtime();
        let turn = lanes.next.fetch_add(1, Ordering::Relaxed);
        lanes.shared[turn % lanes.shared.len()].lane(&self.maker).await
    }

    /// The lane that renewals take.
    pub(crate) async fn keepers_lane(&self) -> Result<Lane, Trouble> {
        self.of_this_runtime().keepers.lane(&self.maker).await
    }

    /// Looks for signs that the server lost records.
    pub(crate) async fn watch(&self) -> Result<(), Trouble> {
        if self.maker.epochs.are_untold() {
            return Ok(());
        }
        self.maker.epochs.look(&mut self.keepers_lane().await?).await
    }

    fn of_this_runtime(&self) -> Arc<RuntimeLanes> {
        let runtime = Handle::current();
        let (lanes, is_new) = match lock(&self.by_runtime).entry(runtime.id()) {
            Entry::Occupied(lanes) => (Arc::clone(lanes.get()), false),
            Entry::Vacant(place) => (Arc::clone(place.insert(RuntimeLanes::new(self.count))), true),
        };
        // Spawned outside the lock: on a runtime that is shutting down the canary ends at once, and takes the lock.
        if is_new {
            let _ = lanes.canary.set(self.canary(&runtime));
        }
        lanes
    }

    /// A task that does nothing but end with its runtime, and then takes the lanes of that runtime away.
    fn canary(&self, runtime: &Handle) -> AbortHandle {
        let end = Canary { by_runtime: Arc::downgrade(&self.by_runtime), runtime: runtime.id() };
        let waits = async move {
            let _end = end;
            std::future::pending::<()>().await;
        };
        runtime.spawn(waits).abort_handle()
    }
}

struct Canary {
    by_runtime: Weak<Mutex<HashMap<Id, Arc<RuntimeLanes>>>>,
    runtime: Id,
}

impl Drop for Canary {
    fn drop(&mut self) {
        if let Some(by_runtime) = self.by_runtime.upgrade() {
            let gone = lock(&by_runtime).remove(&self.runtime);
            drop(gone);
        }
    }
}

impl RuntimeLanes {
    fn new(count: NonZeroUsize) -> Arc<Self> {
        Arc::new(Self {
            shared: std::iter::repeat_with(Slot::default).take(count.get()).collect(),
            next: AtomicUsize::new(0),
            keepers: Slot::default(),
            canary: OnceLock::new(),
        })
    }
}

impl Drop for RuntimeLanes {
    fn drop(&mut self) {
        if let Some(canary) = self.canary.get() {
            canary.abort();
        }
    }
}

impl Slot {
    /// The lane, if it works as far as is known, else a new one.
    async fn lane(&self, maker: &Maker) -> Result<Lane, Trouble> {
        let attempt = match &mut *lock(&self.0) {
            Connection::Made(lane) if lane.state.works() => return Ok(lane.clone()),
            Connection::Failed(trouble, at) if at.elapsed() < CONNECT_PAUSE => return Err(trouble.clone()),
            Connection::Attempt(attempt) if attempt.peek().is_none() => attempt.clone(),
            connection => {
                let attempt = self.attempt(maker.clone());
                *connection = Connection::Attempt(attempt.clone());
                attempt
            }
        };
        tokio::time::timeout(CONNECT_WAIT, attempt).await.unwrap_or_else(|_| Err(timed_out()))
    }

    /// Connects in a task of its own. It goes on when those who wait for it give up: its time must not run out unattended,
    /// and a connection that takes longer than they wait is there for the next ones.
    fn attempt(&self, maker: Maker) -> Attempt {
        let slot = Arc::clone(&self.0);
        let connecting = tokio::spawn(async move {
            let ended = maker.lane().await;
            *lock(&slot) = match &ended {
                Ok(lane) => Connection::Made(lane.clone()),
                Err(trouble) => Connection::Failed(trouble.clone(), Instant::now()),
            };
            ended
        });
        // The task itself ends early only with its runtime.
        connecting.map(|ended| ended.unwrap_or_else(|_| Err(timed_out()))).boxed().shared()
    }
}

impl Maker {
    async fn lane(&self) -> Result<Lane, Trouble> {
        tokio::time::timeout(CONNECT_TIMEOUT, self.connect()).await.unwrap_or_else(|_| Err(timed_out()))
    }

    async fn connect(&self) -> Result<Lane, Trouble> {
        let mut connection = self.pool.manager().create().await.map_err(|error| Trouble::connecting(&error))?;
        connection.set_response_timeout(RESPONSE_TIMEOUT);
        let mut lane = Lane { connection, state: Arc::default() };
        // Before its first use: what a call finds there may be what is left of a loss.
        self.epochs.look(&mut lane).await.map_err(Trouble::before_any_call)?;
        Ok(lane)
    }
}

impl Lane {
    /// Sends one command and waits for its reply.
    pub(crate) async fn ask(&mut self, command: &Cmd) -> Result<Value, Trouble> {
        let waiting = self.state.wait();
        let answer = self.connection.send_packed_command(command).await.and_then(Value::extract_error);
        waiting.end();
        let answer = answer.map_err(|error| Trouble::asking(&error));
        // A script gives its server's refusal back as a value, and it means the same.
        let refusal = answer.as_ref().map_or(None, Trouble::refused);
        if refusal.as_ref().or(answer.as_ref().err()).is_some_and(Trouble::spoils_the_lane) {
            self.state.spoiled.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// Sends `count` commands at once and waits for all replies, each its own.
    pub(crate) async fn ask_all(
        &mut self,
        pipeline: &Pipeline,
        count: usize,
    ) -> Result<Vec<Result<Value, Trouble>>, Trouble> {
        let waiting = self.state.wait();
        let answers = self.connection.send_packed_commands(pipeline, 0, count).await;
        waiting.end();
        let answers = answers.map_err(|error| Trouble::asking(&error));
        if answers.as_ref().is_err_and(Trouble::spoils_the_lane) {
            self.state.spoiled.store(true, Ordering::Relaxed);
        }
        let each = |answer: Value| answer.extract_error().map_err(|error| Trouble::asking(&error));
        Ok(answers?.into_iter().map(each).collect())
    }

    /// Whether the server takes `SET … NX GET`: Redis from 7.0, Valkey. Found out by the first try.
    pub(crate) fn has_fast_claim(&self) -> bool {
        !self.state.lacks_fast_claim.load(Ordering::Relaxed)
    }

    pub(crate) fn remember_no_fast_claim(&self) {
        self.state.lacks_fast_claim.store(true, Ordering::Relaxed);
    }
}

/// Counts a lane as live for as long as anybody holds it.
struct LiveLane(Gauge);

impl Default for LiveLane {
    fn default() -> Self {
        let live = gauge!(LIVE_LANES);
        live.increment(1.0);
        Self(live)
    }
}

impl Drop for LiveLane {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

impl LaneState {
    fn works(&self) -> bool {
        !self.spoiled.load(Ordering::Relaxed)
    }

    fn wait(&self) -> Waiting<'_> {
        Waiting { state: self, since: Instant::now() }
    }
}

impl Waiting<'_> {
    fn end(self) {
        self.state.waited.store(0, Ordering::Relaxed);
        std::mem::forget(self);
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let waited = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let together = self.state.waited.fetch_add(waited, Ordering::Relaxed).saturating_add(waited);
        if together >= SILENCE_MILLIS {
            self.state.spoiled.store(true, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lanes").field("count", &self.count).finish_non_exhaustive()
    }
}

fn timed_out() -> Trouble {
    Trouble::Unconnected(RedisCause::Connection(io::ErrorKind::TimedOut))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

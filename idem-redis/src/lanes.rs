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
use deadpool_redis::{Manager, Pool};
use redis::aio::MultiplexedConnection;
use redis::{Cmd, Value};
use tokio::runtime::{Handle, Id};
use tokio::task::AbortHandle;

use crate::error::{RedisCause, Trouble};

/// How long a call may wait for a connection to be made. Under the engine's default bound on a store call, so that a server
/// that cannot be reached is told from one that does not answer: nothing was sent.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(800);

/// A lane that was asked something this long ago and has answered nothing since is replaced: its server, or something on
/// the way there, is gone without a word.
const SILENCE_MILLIS: u64 = 1000;

/// The engine bounds what it waits for; this ends what nobody waits for any more.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// The lanes of one store.
pub(crate) struct Lanes {
    pool: Pool,
    count: NonZeroUsize,
    by_runtime: Arc<Mutex<HashMap<Id, Arc<RuntimeLanes>>>>,
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
struct Slot {
    lane: Mutex<Option<Lane>>,
    connecting: tokio::sync::Mutex<()>,
}

/// One connection. A cheap clone.
#[derive(Clone)]
pub(crate) struct Lane {
    connection: MultiplexedConnection,
    state: Arc<LaneState>,
}

struct LaneState {
    made: Instant,
    /// When the lane was asked first since its last answer, in milliseconds after `made`; 0 if it owes no answer.
    asked: AtomicU64,
    spoiled: AtomicBool,
    lacks_fast_claim: AtomicBool,
}

impl Lanes {
    pub(crate) fn new(pool: Pool, count: NonZeroUsize) -> Self {
        Self { pool, count, by_runtime: Arc::default() }
    }

    /// The next lane in turn.
    pub(crate) async fn lane(&self) -> Result<Lane, Trouble> {
        let lanes = self.of_this_runtime();
        let turn = lanes.next.fetch_add(1, Ordering::Relaxed);
        lanes.shared[turn % lanes.shared.len()].lane(self.pool.manager()).await
    }

    /// The lane that renewals take.
    pub(crate) async fn keepers_lane(&self) -> Result<Lane, Trouble> {
        self.of_this_runtime().keepers.lane(self.pool.manager()).await
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
    async fn lane(&self, manager: &Manager) -> Result<Lane, Trouble> {
        if let Some(lane) = self.working() {
            return Ok(lane);
        }
        match tokio::time::timeout(CONNECT_TIMEOUT, self.connected(manager)).await {
            Ok(lane) => lane,
            Err(_) => Err(Trouble::Unconnected(RedisCause::Connection(io::ErrorKind::TimedOut))),
        }
    }

    async fn connected(&self, manager: &Manager) -> Result<Lane, Trouble> {
        let _one_at_a_time = self.connecting.lock().await;
        if let Some(lane) = self.working() {
            return Ok(lane);
        }
        let lane = Lane::connect(manager).await?;
        *lock(&self.lane) = Some(lane.clone());
        Ok(lane)
    }

    fn working(&self) -> Option<Lane> {
        lock(&self.lane).clone().filter(|lane| lane.state.works())
    }
}

impl Lane {
    async fn connect(manager: &Manager) -> Result<Self, Trouble> {
        let mut connection = manager.create().await.map_err(|error| Trouble::connecting(&error))?;
        connection.set_response_timeout(RESPONSE_TIMEOUT);
        let state = LaneState {
            made: Instant::now(),
            asked: AtomicU64::new(0),
            spoiled: AtomicBool::new(false),
            lacks_fast_claim: AtomicBool::new(false),
        };
        Ok(Self { connection, state: Arc::new(state) })
    }

    /// Sends one command and waits for its reply.
    pub(crate) async fn ask(&mut self, command: &Cmd) -> Result<Value, Trouble> {
        self.state.is_asked();
        let answer = self.connection.send_packed_command(command).await.and_then(Value::extract_error);
        self.state.has_answered();
        answer.map_err(|error| {
            let trouble = Trouble::asking(&error);
            if trouble.spoils_the_lane() {
                self.state.spoiled.store(true, Ordering::Relaxed);
            }
            trouble
        })
    }

    /// Whether the server takes `SET … NX GET`: Redis from 7.0, Valkey. Found out by the first try.
    pub(crate) fn has_fast_claim(&self) -> bool {
        !self.state.lacks_fast_claim.load(Ordering::Relaxed)
    }

    pub(crate) fn remember_no_fast_claim(&self) {
        self.state.lacks_fast_claim.store(true, Ordering::Relaxed);
    }
}

impl LaneState {
    fn works(&self) -> bool {
        let asked = self.asked.load(Ordering::Relaxed);
        let silent = asked != 0 && self.age().saturating_sub(asked) > SILENCE_MILLIS;
        !silent && !self.spoiled.load(Ordering::Relaxed)
    }

    fn is_asked(&self) {
        let _ = self.asked.compare_exchange(0, self.age(), Ordering::Relaxed, Ordering::Relaxed);
    }

    fn has_answered(&self) {
        self.asked.store(0, Ordering::Relaxed);
    }

    /// Milliseconds since the lane was made, and never 0.
    fn age(&self) -> u64 {
        u64::try_from(self.made.elapsed().as_millis()).unwrap_or(u64::MAX).max(1)
    }
}

impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lanes").field("count", &self.count).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

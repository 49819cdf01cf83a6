//! Lanes: the store's own connections, shared by pipelining.
//!
//! They are made through the pool's manager (its address, credentials and TLS), but take no permit from the pool and are
//! never among its connections: another user's `MULTI` or `BLPOP` would swallow our commands. A connection lives on the
//! runtime that made it, so each runtime has its own.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deadpool::managed::Manager as _;
use deadpool_redis::{Manager, Pool};
use redis::aio::MultiplexedConnection;
use redis::{Cmd, Value};
use tokio::runtime::{Handle, Id};

use crate::error::Trouble;

/// How long a reply may take before its lane counts as broken. Just under the engine's bound on a store call, so that the
/// lane is replaced before the next one.
const RESPONSE_TIMEOUT: Duration = Duration::from_millis(900);

/// The lanes of one store.
pub(crate) struct Lanes {
    pool: Pool,
    by_runtime: Mutex<HashMap<Id, Arc<Slot>>>,
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

#[derive(Default)]
struct LaneState {
    spoiled: AtomicBool,
    lacks_fast_claim: AtomicBool,
}

impl Lanes {
    pub(crate) fn new(pool: Pool) -> Self {
        Self { pool, by_runtime: Mutex::default() }
    }

    /// A lane that works, as far as is known; a new one where there is none.
    pub(crate) async fn lane(&self) -> Result<Lane, Trouble> {
        let slot = self.slot();
        if let Some(lane) = slot.working() {
            return Ok(lane);
        }
        let _one_at_a_time = slot.connecting.lock().await;
        if let Some(lane) = slot.working() {
            return Ok(lane);
        }
        let lane = Lane::connect(self.pool.manager()).await?;
        *lock(&slot.lane) = Some(lane.clone());
        Ok(lane)
    }

    fn slot(&self) -> Arc<Slot> {
        let runtime = Handle::current().id();
        Arc::clone(lock(&self.by_runtime).entry(runtime).or_default())
    }
}

impl Slot {
    fn working(&self) -> Option<Lane> {
        lock(&self.lane).clone().filter(|lane| !lane.state.spoiled.load(Ordering::Relaxed))
    }
}

impl Lane {
    async fn connect(manager: &Manager) -> Result<Self, Trouble> {
        let mut connection = manager.create().await.map_err(|error| Trouble::connecting(&error))?;
        connection.set_response_timeout(RESPONSE_TIMEOUT);
        Ok(Self { connection, state: Arc::default() })
    }

    /// Sends one command and waits for its reply.
    pub(crate) async fn ask(&mut self, command: &Cmd) -> Result<Value, Trouble> {
        let answer = self.connection.send_packed_command(command).await.and_then(Value::extract_error);
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

impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lanes").finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

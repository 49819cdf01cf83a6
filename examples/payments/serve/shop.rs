//! What the service runs on, and where it is hurt.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use deadpool_redis::{Config, Runtime};
use idem::{Engine, Fence, Outcome, Policy, RedisStore};
use redis::aio::MultiplexedConnection;
use tempfile::TempDir;
use test_support::{Proxy, RedisServer};
use tokio::sync::Notify;

use crate::charge::{ChargeError, Order, Receipt, charge};
use crate::error::Error;
use crate::gateway::{Faults, Gateway};
use crate::ledger::Ledger;
use crate::process::Setup;

/// Long enough for every repeat of this load, short enough for a server's memory when it runs for days.
pub(super) const RETENTION: Duration = Duration::from_secs(3600);
/// Long against the pauses of a busy machine, short for who waits until a crash is believed.
pub(super) const LEASE: Duration = Duration::from_secs(5);
const PREFIX: &str = "idem-demo";

pub(super) struct Shop {
    pub(super) engine: Engine,
    pub(super) server: Arc<RedisServer>,
    /// Between engine and server: outages are made here.
    pub(super) proxy: Proxy,
    orders: AtomicU64,
    dir: TempDir,
}

impl Shop {
    /// Opens it on a Redis of its own, and installs its engine.
    pub(super) fn open() -> Result<Self, Error> {
        let server = RedisServer::start()?;
        let proxy = Proxy::start(server.port())?;
        let pool = Config::from_url(proxy.url()).create_pool(Some(Runtime::Tokio1)).map_err(Error::setup)?;
        let store = RedisStore::builder(pool).prefix(PREFIX).build().map_err(Error::setup)?;
        let policy = Policy::new().lease(LEASE).retention(RETENTION);
        let engine = Engine::builder(store).policy(policy).build().map_err(Error::setup)?;
        idem::install(engine.clone()).map_err(Error::setup)?;
        let dir = TempDir::with_prefix("idem-payments-")?;
        Ok(Self { engine, server: Arc::new(server), proxy, orders: AtomicU64::new(0), dir })
    }

    /// An order that nobody has placed before.
    pub(super) fn order(&self) -> Order {
        let number = self.orders.fetch_add(1, Ordering::Relaxed);
        Order { id: format!("order-{}-{number}", process::id()), amount_cents: 4200 + number % 1000 }
    }

    pub(super) async fn charge(&self, order: &Order, faults: Faults) -> Result<Outcome<Receipt>, ChargeError> {
        let gateway = Gateway { ledger: Ledger::forgetful(), faults, resume: Arc::new(Notify::new()), tell: |_| {} };
        charge(&gateway, order).await
    }

    /// How to start a worker that shares this store.
    pub(super) fn setup(&self) -> Setup {
        let ledger = self.dir.path().join("ledger.jsonl");
        Setup { redis_url: self.server.url(), prefix: PREFIX.to_owned(), ledger, lease: LEASE }
    }

    /// Nothing comes through until the guard is dropped.
    pub(super) fn outage(&self) -> Outage<'_> {
        self.proxy.refuse(true);
        self.proxy.cut();
        Outage(&self.proxy)
    }

    /// Loses the record of `order`, as an eviction would.
    pub(super) async fn lose(&self, operation: &str, order: &Order) -> Result<(), Error> {
        Ok(redis::cmd("DEL").arg(key(operation, order)).exec_async(&mut self.redis().await?).await?)
    }

    /// Makes the attempt at `order` older than it is: its fence is the moment at which it was claimed.
    pub(super) async fn backdate(&self, operation: &str, order: &Order, by: Duration) -> Result<(), Error> {
        let then = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(by);
        let fence = Fence::new(u64::try_from(then.as_micros()).unwrap_or_default()).to_text();
        let mut set = redis::cmd("SETRANGE");
        set.arg(key(operation, order)).arg(FENCE_AT).arg(&fence[..]);
        Ok(set.exec_async(&mut self.redis().await?).await?)
    }

    /// Makes the kept result of `order` one that nothing can read, as another release's type would be.
    pub(super) async fn spoil(&self, operation: &str, order: &Order) -> Result<(), Error> {
        Ok(redis::cmd("APPEND").arg(key(operation, order)).arg("]").exec_async(&mut self.redis().await?).await?)
    }

    /// Not through the proxy.
    async fn redis(&self) -> Result<MultiplexedConnection, Error> {
        Ok(redis::Client::open(self.server.url())?.get_multiplexed_async_connection().await?)
    }
}

/// Where the fence stands in a record: docs/record-layout.md.
const FENCE_AT: usize = 4;

fn key(operation: &str, order: &Order) -> String {
    format!("{PREFIX}:{{{operation}::{}}}", order.id)
}

/// An outage; it ends when this is dropped.
pub(super) struct Outage<'a>(&'a Proxy);

impl Drop for Outage<'_> {
    fn drop(&mut self) {
        self.0.refuse(false);
    }
}

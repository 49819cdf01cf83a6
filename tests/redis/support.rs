//! What the stories share: a server, engines on it, and a way to look at the record itself.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use deadpool_redis::{Config, Pool, PoolConfig, Runtime};
use idem::{Engine, Error, ErrorKind, Policy, RedisStore};
use test_support::{RedisServer, Reply};

pub(crate) const LEASE: Duration = Duration::from_millis(300);

pub(crate) fn server() -> RedisServer {
    RedisServer::start().expect("a private redis-server")
}

/// A pool of `size` connections, as an application has one.
pub(crate) fn pool(server: &RedisServer, size: usize) -> Pool {
    let mut config = Config::from_url(server.url());
    config.pool = Some(PoolConfig::new(size));
    config.create_pool(Some(Runtime::Tokio1)).expect("a pool")
}

/// An engine with a pool of its own and short leases.
pub(crate) fn engine(server: &RedisServer) -> Engine {
    engine_with(server, Policy::new().lease(LEASE).retention(Duration::from_secs(60)))
}

pub(crate) fn engine_with(server: &RedisServer, policy: Policy) -> Engine {
    Engine::builder(RedisStore::new(pool(server, 8))).policy(policy).build().expect("a valid policy")
}

/// This test program once more, for the one test that is named, which is told its task by `variable`.
pub(crate) fn child(test: &str, variable: &str, task: &str) -> Command {
    let mut child = Command::new(std::env::current_exe().expect("a test knows its own path"));
    child.args(["--exact", test, "--nocapture"]).env(variable, task).stdout(Stdio::piped());
    child
}

/// Counts how often a body ran: the truth about executions.
#[derive(Debug, Default)]
pub(crate) struct Runs(AtomicU32);

impl Runs {
    pub(crate) fn add(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(crate) fn count(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

pub(crate) fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorKind {
    result.expect_err("refused").kind()
}

/// The stored value of `key`, or `None`.
pub(crate) fn value(server: &RedisServer, key: &str) -> Option<Vec<u8>> {
    match server.command(&["GET", key]).expect("GET") {
        Reply::Bulk(value) => value,
        other => panic!("not a string: {other:?}"),
    }
}

/// What is left of the life of `key`.
pub(crate) fn pttl(server: &RedisServer, key: &str) -> i64 {
    server.command(&["PTTL", key]).expect("PTTL").int().expect("an integer")
}

pub(crate) fn keys(server: &RedisServer) -> i64 {
    server.command(&["DBSIZE"]).expect("DBSIZE").int().expect("an integer")
}

//! What the stories of trouble share: engines at any address, what was counted, and all that an error says.

use std::error::Error as StdError;
use std::time::{Duration, Instant};

use deadpool_redis::{Config, Runtime};
use idem::{Attempt, Engine, EngineBuilder, Error, ErrorKind, Policy, RedisStore};
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use test_support::{Command, Monitor, RedisServer, Reply, expect_within};
use tokio::sync::Notify;

use crate::support::{Runs, pttl, value};

/// The engine's default bound on a store call.
pub(crate) const BOUND: Duration = Duration::from_secs(1);
/// What a busy machine may add to a time that is to be short.
pub(crate) const LATE: Duration = Duration::from_secs(2);
/// Until something happens that is sure to happen.
pub(crate) const AMPLE: Duration = Duration::from_secs(20);
/// Short enough to be waited for, and long enough to be renewed in time on a busy machine.
pub(crate) const SHORT_LEASE: Duration = Duration::from_secs(1);
/// So long that only something else than its end can free a key within a test.
pub(crate) const LONG_LEASE: Duration = Duration::from_secs(60);

/// An engine at `url`; its claims begin with the fast one, or all take the script.
pub(crate) fn builder_at(url: &str, fast_claim: bool) -> EngineBuilder {
    let pool = Config::from_url(url).create_pool(Some(Runtime::Tokio1)).expect("a pool");
    Engine::builder(RedisStore::builder(pool).fast_claim(fast_claim).build().expect("a store"))
}

pub(crate) fn engine_at(url: &str, lease: Duration) -> Engine {
    let policy = Policy::new().lease(lease).retention(Duration::from_secs(60));
    builder_at(url, true).policy(policy).build().expect("a valid policy")
}

/// A call whose value tells its key, so that another call's answer shows.
pub(crate) async fn call(engine: &Engine, key: &str, runs: &Runs) -> Result<String, Error> {
    let operation = engine.operation("story").key(key).fingerprint(&());
    operation
        .run(async |_| {
            runs.add();
            Ok(result_of(key))
        })
        .await
}

pub(crate) fn result_of(key: &str) -> String {
    format!("result of {key}")
}

/// Where the record of [`call`] lies, for a key that needs no escape.
pub(crate) fn record_of(key: &str) -> String {
    format!("idem:{{story::{key}}}")
}

/// A call that is in flight for as long as `meanwhile` takes, then ends with its value.
pub(crate) async fn call_around(
    engine: &Engine,
    key: &str,
    runs: &Runs,
    meanwhile: impl AsyncFnOnce(),
) -> Result<idem::Outcome<u32>, Error> {
    let operation = engine.operation("story").key(key).fingerprint(&());
    operation
        .run(async |_| {
            meanwhile().await;
            Ok(runs.add().into())
        })
        .await
}

/// A call that is dropped in its body, as by a caller who hung up.
pub(crate) async fn crash(engine: &Engine, key: &str) {
    let begun = Notify::new();
    let runs = Runs::default();
    let hangs = call_around(engine, key, &runs, async || {
        begun.notify_one();
        std::future::pending::<()>().await;
    });
    tokio::select! {
        ended = hangs => panic!("not in flight: {ended:?}"),
        () = begun.notified() => {}
    }
}

/// Calls until it runs, as a sender does who waits out a conflict; gives the attempt, and whether it took over.
pub(crate) async fn until_it_runs(engine: &Engine, key: &str) -> (u32, bool) {
    let began = Instant::now();
    loop {
        let operation = engine.operation("story").key(key).fingerprint(&());
        match operation.run(async |now| Ok::<_, Error>((now.number(), now.is_takeover()))).await {
            Ok(attempt) => return attempt,
            Err(error) => assert_eq!(error.kind(), ErrorKind::InFlight, "{}", texts(&error)),
        }
        assert!(began.elapsed() < AMPLE, "{key} stays in flight");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A call whose body fails after `meanwhile`: its own error comes through.
pub(crate) async fn fails_after(engine: &Engine, key: &str, meanwhile: impl AsyncFnOnce()) {
    let operation = engine.operation("story").key(key).fingerprint(&());
    let failed = operation.run(async |_| {
        meanwhile().await;
        Err::<u32, Box<dyn StdError>>("its own error".into())
    });
    assert_eq!(failed.await.expect_err("failed").to_string(), "its own error");
}

/// How often a script wrote a settled record of `key`.
pub(crate) fn times_settled(monitor: &Monitor, key: &str) -> usize {
    let record = record_of(key);
    let settles = |command: &&Command| {
        let is_written = command.is_from_script() && command.name() == "SET";
        is_written && command.word(1).as_ref() == Some(&record) && command.words()[2].starts_with(b"1C")
    };
    monitor.all_commands().expect("the monitor").iter().filter(settles).count()
}

/// Whether the lease of the claim on `key` is over, as the server sees it.
pub(crate) fn lease_is_over(server: &RedisServer, key: &str) -> bool {
    let record = record_of(key);
    pttl(server, &record) <= floor_of(server, &record)
}

/// Ends the lease of the claim in `record`, as time would.
pub(crate) fn end_lease(server: &RedisServer, record: &str) {
    let floor = floor_of(server, record).to_string();
    assert_eq!(server.command(&["PEXPIRE", record, &floor]).expect("PEXPIRE"), Reply::Int(1));
}

fn floor_of(server: &RedisServer, record: &str) -> i64 {
    let raw = value(server, record).expect("a record");
    std::str::from_utf8(&raw[62..75]).expect("digits").parse().expect("a number")
}

/// Makes every connection of the engine, the keeper's as well: lanes are made when they are first needed.
pub(crate) async fn warm(engine: &Engine) {
    let policy = Policy::new().lease(SHORT_LEASE);
    let operation = engine.operation("warm").policy(policy).key("k").fingerprint(&());
    let renewed = async |_| {
        until_renewed().await;
        Ok::<_, Error>(())
    };
    operation.run(renewed).await.expect("executed");
    for key in ["a", "b", "c", "d"] {
        call(engine, &format!("warm {key}"), &Runs::default()).await.expect("executed");
    }
}

/// The server is there again. What was not for a moment ago may be told once more to the next calls, but not for long.
pub(crate) async fn works_again(engine: &Engine, key: &str, runs: &Runs) {
    let began = Instant::now();
    loop {
        match call(engine, key, runs).await {
            Ok(value) => break assert_eq!(value, result_of(key)),
            refused => assert_eq!(trouble(refused).0, "unavailable"),
        }
        assert!(began.elapsed() < LATE, "{:?}", began.elapsed());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits, in a body, until its lease is renewed: nothing else makes it grow.
pub(crate) async fn until_renewed() {
    let attempt = Attempt::current();
    let mut left = attempt.remaining();
    let grows = || {
        let before = std::mem::replace(&mut left, attempt.remaining());
        left > before
    };
    eventually("a renewal", grows).await;
}

/// Waits for a condition without keeping the runtime from its work.
pub(crate) async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < AMPLE, "not within {AMPLE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// All that an error says, to a person and to a log, down to its last cause.
pub(crate) fn texts(error: &Error) -> String {
    let first: &dyn StdError = error;
    let chain = std::iter::successors(Some(first), |&error| error.source());
    chain.map(|error| format!("{error}\n{error:?}")).collect::<Vec<_>>().join("\n")
}

/// The kind of a refusal by the store, as a word, and all that it says.
pub(crate) fn trouble<T: std::fmt::Debug>(result: Result<T, Error>) -> (&'static str, String) {
    let error = result.expect_err("no clear answer, no run");
    let ErrorKind::Store(kind) = error.kind() else { panic!("{error:?}") };
    assert!(error.is_retryable() && !error.may_have_run() && error.retry_after().is_some());
    (kind.as_str(), texts(&error))
}

/// What is counted on this thread, so in tests on a single-threaded runtime only.
pub(crate) struct Counts(Snapshotter);

/// What was counted since the last look.
#[derive(Debug)]
pub(crate) struct Counted(Vec<(metrics::Key, u64)>);

impl Counts {
    pub(crate) fn of(recorder: &DebuggingRecorder) -> Self {
        Self(recorder.snapshotter())
    }

    pub(crate) fn take(&self) -> Counted {
        let all = self.0.snapshot().into_vec().into_iter();
        Counted(
            all.filter_map(|(key, _, _, value)| match value {
                DebugValue::Counter(count) => Some((key.into_parts().1, count)),
                _ => None,
            })
            .collect(),
        )
    }
}

impl Counted {
    /// The sum under `name`, over everything that carries all of `labels`.
    pub(crate) fn sum(&self, name: &str, labels: &[(&str, &str)]) -> u64 {
        let has = |key: &metrics::Key, (label, value)| key.labels().any(|l| (l.key(), l.value()) == (label, value));
        let fits = |key: &metrics::Key| key.name() == name && labels.iter().all(|label| has(key, *label));
        self.0.iter().filter(|(key, _)| fits(key)).map(|(_, count)| count).sum()
    }
}

/// Takes the server's memory away, or gives it back.
pub(crate) fn set_full(server: &RedisServer, full: bool) {
    configure(server, "maxmemory", if full { "1" } else { "0" });
}

pub(crate) fn configure(server: &RedisServer, name: &str, value: &str) {
    let set = server.command(&["CONFIG", "SET", name, value]).expect("CONFIG SET");
    assert_eq!(set, Reply::Simple("OK".into()));
}

/// A server that is a cluster of its own, once its slots are given to it.
pub(crate) fn cluster_without_slots() -> RedisServer {
    RedisServer::builder().option("cluster-enabled", "yes").start().expect("a private redis-server")
}

/// Gives all slots to the one node, and waits until it serves them.
pub(crate) fn give_all_slots(server: &RedisServer) {
    let slots: Vec<String> = (0..16_384).map(|slot| slot.to_string()).collect();
    let words: Vec<&str> = ["CLUSTER", "ADDSLOTS"].into_iter().chain(slots.iter().map(String::as_str)).collect();
    server.command(&words).expect("CLUSTER ADDSLOTS");
    let state = || server.command(&["CLUSTER", "INFO"]).expect("CLUSTER INFO").text().expect("a text");
    expect_within(AMPLE, || state().contains("cluster_state:ok"));
}

/// A section of `INFO`.
pub(crate) fn info(server: &RedisServer, section: &str) -> String {
    server.command(&["INFO", section]).expect("INFO").text().expect("a text")
}

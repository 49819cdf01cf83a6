//! What may have cost records is counted once, by its reason; and nothing else is (F28).

use std::time::Duration;

use idem_core::Store;
use idem_core::conformance::Intent;
use idem_core::metrics::STORE_EPOCHS;
use idem_redis::RedisStore;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use test_support::{Command, Monitor, RedisServer, expect_within};

/// A store, and what it counted. The recorder is this thread's, and so are the tasks of a test.
struct Watcher {
    store: RedisStore,
    counted: Snapshotter,
    _recorder: metrics::LocalRecorderGuard<'static>,
}

impl Watcher {
    async fn of(server: &RedisServer) -> Self {
        let recorder: &'static DebuggingRecorder = Box::leak(Box::default());
        let store = RedisStore::from_url(&server.url()).expect("a URL");
        let watcher =
            Self { store, counted: recorder.snapshotter(), _recorder: metrics::set_default_local_recorder(recorder) };
        watcher.uses_all_lanes().await;
        assert_eq!(watcher.counts(), [], "there was nothing to compare with");
        watcher
    }

    async fn uses_all_lanes(&self) {
        for _ in 0..4 {
            self.store.inspect(&Intent::new().operation).await.expect("an answer");
        }
        self.watches().await;
    }

    async fn watches(&self) {
        self.store.watch().await.expect("an answer");
    }

    /// What was counted since the last look, by reason.
    fn counts(&self) -> Vec<(String, u64)> {
        let counted = self.counted.snapshot().into_vec().into_iter().filter_map(|(key, _, _, value)| {
            let reason = key.key().labels().find(|label| label.key() == "reason")?.value().to_owned();
            match value {
                DebugValue::Counter(count) if key.key().name() == STORE_EPOCHS && count > 0 => Some((reason, count)),
                _ => None,
            }
        });
        counted.collect()
    }
}

fn once(reason: &str) -> [(String, u64); 1] {
    [(reason.to_owned(), 1)]
}

fn server() -> RedisServer {
    RedisServer::builder().option("repl-diskless-sync-delay", "0").start().expect("a private redis-server")
}

fn follow(replica: &RedisServer, primary: &RedisServer) {
    replica.command(&["REPLICAOF", "127.0.0.1", &primary.port().to_string()]).expect("REPLICAOF");
    let follows = || replica.command(&["INFO", "replication"]).ok().and_then(|info| info.text()).unwrap_or_default();
    expect_within(Duration::from_secs(20), || follows().contains("master_link_status:up"));
}

#[tokio::test]
async fn a_restart_is_counted_once_however_many_lanes_meet_it() {
    let server = server();
    let watcher = Watcher::of(&server).await;
    server.kill().expect("killed");
    server.restart().expect("restarted");
    let operation = Intent::new().operation;
    while watcher.store.inspect(&operation).await.is_err() || watcher.store.watch().await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    watcher.uses_all_lanes().await;
    assert_eq!(watcher.counts(), once("restart"));
    watcher.uses_all_lanes().await;
    assert_eq!(watcher.counts(), []);
}

#[tokio::test]
async fn a_primary_that_was_a_replica_meanwhile_is_a_failover() {
    let (server, other) = (server(), server());
    let watcher = Watcher::of(&server).await;
    follow(&server, &other);
    watcher.watches().await;
    assert_eq!(watcher.counts(), [], "a replica is not the server of any record");
    server.command(&["REPLICAOF", "NO", "ONE"]).expect("REPLICAOF");
    watcher.watches().await;
    assert_eq!(watcher.counts(), once("failover"));
}

#[tokio::test]
async fn a_first_replica_loses_nothing() {
    let (server, other) = (server(), server());
    let watcher = Watcher::of(&server).await;
    follow(&other, &server);
    watcher.watches().await;
    assert_eq!(watcher.counts(), []);
}

#[tokio::test]
async fn evictions_are_counted_when_there_are_more() {
    let server = server();
    let watcher = Watcher::of(&server).await;
    for option in [["maxmemory-policy", "allkeys-random"], ["maxmemory", "1"]] {
        server.command(&["SET", "key", "value"]).expect("SET");
        server.command(&[["CONFIG", "SET"], option].concat()).expect("CONFIG SET");
    }
    server.command(&["SET", "key", "value"]).expect("SET or OOM");
    watcher.watches().await;
    assert_eq!(watcher.counts(), once("eviction"));
    watcher.watches().await;
    assert_eq!(watcher.counts(), []);
}

#[tokio::test]
async fn a_server_that_does_not_tell_is_asked_no_more_and_serves_all_the_same() {
    let server = server();
    server.command(&["ACL", "SETUSER", "default", "-info"]).expect("ACL");
    let watcher = Watcher::of(&server).await;
    let monitor = Monitor::start(&server).expect("a monitor");
    watcher.watches().await;
    watcher.store.inspect(&Intent::new().operation).await.expect("an answer");
    monitor.sync().expect("the monitor");
    let names: Vec<_> = monitor.client_commands().expect("the monitor").iter().map(Command::name).collect();
    assert_eq!(names, ["EVALSHA"]);
    assert_eq!(watcher.counts(), []);
}

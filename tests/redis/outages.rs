//! A server that is not there, refuses, or says nothing: never a conflict, never a run, and told in time.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use idem::metrics::{CALLS, CONFLICTS, STORE_ERRORS};
use idem::{Engine, Error};
use metrics_util::debugging::DebuggingRecorder;
use test_support::{Direction, Proxy, RedisServer, Reply, expect_within};

use crate::support::{Runs, server};
use crate::trouble::{
    AMPLE, BOUND, Counts, LATE, LONG_LEASE, builder_at, call, cluster_without_slots, configure, engine_at, eventually,
    give_all_slots, result_of, set_full, trouble, warm, works_again,
};

const PASSWORD: &str = "hunter2-password";
const KEY: &str = "order-4711";
const ARGUMENT: &str = "4242-cents";

/// Makes a call that has to be refused, and gives the kind of trouble as a word and all that the error says.
async fn refused(engine: &Engine) -> (&'static str, String) {
    let recorder = DebuggingRecorder::new();
    let counts = Counts::of(&recorder);
    let _guard = metrics::set_default_local_recorder(&recorder);
    let runs = Runs::default();
    let call = engine.operation("shop.pay").key(KEY).fingerprint(ARGUMENT);
    let began = Instant::now();
    let ended = call.run(async |_| Ok::<_, Error>(runs.add())).await;
    let took = began.elapsed();
    let (kind, said) = trouble(ended);

    assert!(took < BOUND + LATE, "{took:?}");
    assert_eq!(runs.count(), 0);
    for secret in [KEY, ARGUMENT, PASSWORD] {
        assert!(!said.contains(secret), "{said}");
    }
    let counted = counts.take();
    assert_eq!(counted.sum(CONFLICTS, &[]), 0);
    assert_eq!(counted.sum(STORE_ERRORS, &[("op", "claim"), ("kind", kind)]), 1, "{counted:?}");
    assert_eq!(counted.sum(STORE_ERRORS, &[("op", "claim")]), 1, "{counted:?}");
    assert_eq!(counted.sum(CALLS, &[]), 1, "{counted:?}");
    assert_eq!(counted.sum(CALLS, &[("outcome", "store_error")]), 1, "{counted:?}");
    (kind, said)
}

/// The server refuses with `word`, the fast claim as well as the script; once that is mended, the same engines work.
async fn refused_with(url: &str, word: &str, mend: impl FnOnce()) {
    let engines = [true, false].map(|fast_claim| builder_at(url, fast_claim).build().expect("a valid policy"));
    for engine in &engines {
        let (kind, said) = refused(engine).await;
        assert_eq!(kind, "unavailable", "{said}");
        assert!(said.contains(&format!("the server refused: {word}")), "{said}");
    }
    mend();
    let runs = Runs::default();
    for engine in &engines {
        works_again(engine, "after", &runs).await;
    }
    assert_eq!(runs.count(), 1);
}

fn assert_command(server: &RedisServer, words: &[&str]) {
    let reply = server.command(words).expect("a reply");
    assert!(!matches!(reply, Reply::Error(_)), "{words:?}: {reply:?}");
}

/// Case O-18.
#[tokio::test]
async fn a_closed_port_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let (kind, said) = refused(&engine_at(&format!("redis://127.0.0.1:{port}"), LONG_LEASE)).await;
    assert_eq!(kind, "unavailable");
    assert!(said.contains("connection refused"), "{said}");
}

/// Case O-18.
#[tokio::test]
async fn a_host_that_cannot_be_found_is_unavailable() {
    let url = format!("redis://:{PASSWORD}@nowhere.invalid:6379");
    let (kind, said) = refused(&engine_at(&url, LONG_LEASE)).await;
    assert_eq!(kind, "unavailable");
    assert!(said.contains("the connection failed"), "{said}");
}

/// Case O-18.
#[tokio::test]
async fn a_wrong_password_or_none_is_unavailable() {
    let server = RedisServer::builder().option("requirepass", PASSWORD).start().expect("a private redis-server");
    let url = |password: &str| format!("redis://:{password}@127.0.0.1:{}", server.port());
    for (url, word) in [(server.url(), "NOAUTH"), (url("wrong"), "WRONGPASS")] {
        for fast_claim in [true, false] {
            let (kind, said) = refused(&builder_at(&url, fast_claim).build().unwrap()).await;
            assert_eq!(kind, "unavailable");
            assert!(said.contains(&format!("the server refused: {word}")), "{said}");
        }
    }
    let right = engine_at(&url(PASSWORD), LONG_LEASE);
    assert_eq!(call(&right, "k", &Runs::default()).await.expect("executed"), result_of("k"));
}

/// Case O-18.
#[tokio::test]
async fn a_user_who_may_not_write_is_unavailable() {
    let server = server();
    let password = format!(">{PASSWORD}");
    assert_command(&server, &["ACL", "SETUSER", "reader", "on", &password, "~*", "+@all", "-set"]);
    let url = format!("redis://reader:{PASSWORD}@127.0.0.1:{}", server.port());
    refused_with(&url, "NOPERM", || assert_command(&server, &["ACL", "SETUSER", "reader", "+set"])).await;
}

/// Case O-18.
#[tokio::test]
async fn a_busy_server_is_unavailable() {
    // The name that every server knows for `busy-reply-threshold`.
    let server = RedisServer::builder().option("lua-time-limit", "100").start().expect("a private redis-server");
    let mut client = server.client().expect("a connection");
    client.send(&["EVAL", "while true do end", "0"]).expect("sent");
    let busy = || matches!(server.command(&["GET", "k"]), Ok(Reply::Error(text)) if text.starts_with("BUSY"));
    expect_within(AMPLE, busy);
    refused_with(&server.url(), "BUSY", || {
        assert_command(&server, &["SCRIPT", "KILL"]);
        expect_within(AMPLE, || !busy());
    })
    .await;
}

/// Case O-18.
#[tokio::test]
async fn a_server_that_only_reads_is_unavailable() {
    let server = server();
    assert_command(&server, &["REPLICAOF", "127.0.0.1", "1"]);
    refused_with(&server.url(), "READONLY", || assert_command(&server, &["REPLICAOF", "NO", "ONE"])).await;
}

/// Case O-18.
#[tokio::test]
async fn a_replica_without_its_primary_is_unavailable() {
    let stale = ["--replica-serve-stale-data", "no", "--replica-read-only", "no"];
    let server = RedisServer::builder().args(stale).start().expect("a private redis-server");
    assert_command(&server, &["REPLICAOF", "127.0.0.1", "1"]);
    refused_with(&server.url(), "MASTERDOWN", || assert_command(&server, &["REPLICAOF", "NO", "ONE"])).await;
}

/// Case O-18.
#[tokio::test]
async fn a_cluster_that_is_down_is_unavailable() {
    let server = cluster_without_slots();
    refused_with(&server.url(), "CLUSTERDOWN", || give_all_slots(&server)).await;
}

/// Case O-18.
#[tokio::test]
async fn a_server_without_memory_is_unavailable() {
    let server = server();
    set_full(&server, true);
    refused_with(&server.url(), "OOM", || set_full(&server, false)).await;
}

/// Case O-18: nothing was sent, so nothing can have happened.
#[tokio::test]
async fn a_black_hole_met_while_connecting_is_unavailable() {
    let server = server();
    let proxy = Proxy::start(server.port()).expect("a proxy");
    proxy.black_hole(Direction::ToClient, true);
    let engine = engine_at(&proxy.url(), LONG_LEASE);
    let (kind, said) = refused(&engine).await;
    assert_eq!(kind, "unavailable");
    assert!(said.contains("timed out"), "{said}");
    proxy.black_hole(Direction::ToClient, false);
    works_again(&engine, "after", &Runs::default()).await;
}

/// Case O-18: what was sent may have arrived.
#[tokio::test]
async fn a_black_hole_met_later_is_ambiguous() {
    let server = server();
    for direction in [Direction::ToServer, Direction::ToClient] {
        let proxy = Proxy::start(server.port()).expect("a proxy");
        let engine = engine_at(&proxy.url(), LONG_LEASE);
        warm(&engine).await;
        server.command(&["FLUSHALL"]).expect("FLUSHALL");
        proxy.black_hole(direction, true);
        let (kind, said) = refused(&engine).await;
        assert_eq!(kind, "ambiguous");
        assert!(said.contains("deadline has elapsed"), "{said}");
        proxy.black_hole(direction, false);
        // Bytes are never lost in the middle of a stream.
        proxy.cut();
        works_again(&engine, "after", &Runs::default()).await;
    }
}

/// Case O-19.
#[tokio::test]
async fn a_server_that_is_loading_has_not_forgotten() {
    let started = RedisServer::builder()
        .args(["--rdbcompression", "no", "--key-load-delay", "100000"])
        .args(["--loading-process-events-interval-bytes", "1024"])
        .start();
    if let Err(test_support::Error::Exited { log, .. }) = &started
        && log.contains("Bad directive")
    {
        eprintln!("SKIPPED: before Redis 7.0 a loading server cannot be made to answer");
        return;
    }
    let server = started.expect("a private redis-server");
    let engine = engine_at(&server.url(), LONG_LEASE);
    let runs = Runs::default();
    call(&engine, "kept", &runs).await.expect("executed");
    let mut client = server.client().expect("a connection");
    for number in 0..300 {
        client.call(&["SET", &format!("filler {number}"), &"x".repeat(2048)]).expect("SET");
    }
    server.restart_while_loading().expect("a restart");

    // The first call has lanes of the server before; what it sent there was never answered.
    let (kind, said) = trouble(call(&engine, "kept", &runs).await);
    assert!(kind == "ambiguous" || said.contains("LOADING"), "{said}");
    for _ in 0..5 {
        let (kind, said) = trouble(call(&engine, "kept", &runs).await);
        assert_eq!(kind, "unavailable");
        assert!(said.contains("the server refused: LOADING"), "{said}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    configure(&server, "key-load-delay", "0");
    eventually("the data are loaded", || server.command(&["DBSIZE"]).is_ok_and(|size| size.int() == Some(301))).await;
    assert_eq!(call(&engine, "kept", &runs).await.expect("replayed"), result_of("kept"));
    assert_eq!(runs.count(), 1);
}

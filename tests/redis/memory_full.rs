//! Servers that cannot write: without memory, without enough replicas, or unable to save.

use std::fs;
use std::time::Instant;

use idem::ErrorKind;
use idem::metrics::{CALLS, STORE_ERRORS, UNRECORDED};
use metrics_util::debugging::DebuggingRecorder;
use test_support::{Monitor, RedisServer};

use crate::support::{Runs, kind, pttl, server, value};
use crate::trouble::{
    Counts, LATE, LONG_LEASE, SHORT_LEASE, call, call_around, configure, crash, end_lease, engine_at, eventually,
    fails_after, info, lease_is_over, record_of, result_of, set_full, trouble, until_it_runs,
};

/// What needs no write is answered while the server `cannot_write`; what does is refused with `word`, until it can again.
async fn answers_what_it_can(server: &RedisServer, word: &str, cannot_write: impl AsyncFn(bool)) {
    let engine = engine_at(&server.url(), LONG_LEASE);
    let runs = Runs::default();
    call(&engine, "kept", &runs).await.expect("executed");
    let owner = call_around(&engine, "running", &runs, async || {
        cannot_write(true).await;
        let (kept, running) = (value(server, &record_of("kept")), value(server, &record_of("running")));
        assert_eq!(call(&engine, "kept", &runs).await.expect("replayed"), result_of("kept"), "{word}");
        assert_eq!(kind(call(&engine, "running", &runs).await), ErrorKind::InFlight, "{word}");
        for key in ["kept", "running"] {
            let other = engine.operation("story").key(key).fingerprint("other").run(async |_| Ok(runs.add()));
            assert_eq!(kind(other.await), ErrorKind::Mismatch, "{word}");
        }
        let (trouble, said) = trouble(call(&engine, "new", &runs).await);
        assert_eq!(trouble, "unavailable");
        assert!(said.contains(&format!("the server refused: {word}")), "{said}");
        assert_eq!(runs.count(), 1);
        assert_eq!(value(server, &record_of("new")), None);
        assert_eq!((value(server, &record_of("kept")), value(server, &record_of("running"))), (kept, running));
        cannot_write(false).await;
    });
    let outcome = owner.await.expect("executed");
    assert!(outcome.seen().expect("told").is_recorded());
    call(&engine, "new", &runs).await.expect("executed");
    assert_eq!(runs.count(), 3);
}

/// Case O-21, scenario F11.
#[tokio::test]
async fn without_memory_what_is_known_is_still_told() {
    let server = server();
    answers_what_it_can(&server, "OOM", async |full| set_full(&server, full)).await;
}

/// Scenario F11.
#[tokio::test]
async fn without_replicas_what_is_known_is_still_told() {
    let server = server();
    let needs = async |replicas| configure(&server, "min-replicas-to-write", if replicas { "1" } else { "0" });
    answers_what_it_can(&server, "NOREPLICAS", needs).await;
}

/// Scenario F11.
#[tokio::test]
async fn unable_to_save_what_is_known_is_still_told() {
    let server = server();
    configure(&server, "save", "3600 1");
    let in_the_way = server.dir().join("dump.rdb");
    let saving_fails = async |fails| {
        if fails {
            fs::create_dir(&in_the_way).expect("a directory where the file would go");
        } else {
            fs::remove_dir(&in_the_way).expect("removed");
        }
        let status = if fails { "rdb_last_bgsave_status:err" } else { "rdb_last_bgsave_status:ok" };
        server.command(&["BGSAVE"]).expect("BGSAVE");
        eventually(status, || info(&server, "persistence").contains(status)).await;
    };
    answers_what_it_can(&server, "MISCONF", saving_fails).await;
}

/// Case O-21: the caller has its value, and is told that nobody else will; the claim lasts no longer than its lease.
#[tokio::test]
async fn a_result_without_memory_is_returned_as_not_recorded() {
    let server = server();
    let engine = engine_at(&server.url(), SHORT_LEASE);
    let recorder = DebuggingRecorder::new();
    let counts = Counts::of(&recorder);
    let _guard = metrics::set_default_local_recorder(&recorder);
    let runs = Runs::default();
    let began = Instant::now();
    let outcome = call_around(&engine, "k", &runs, async || set_full(&server, true)).await.expect("its value");
    assert!(began.elapsed() < SHORT_LEASE + LATE, "{:?}", began.elapsed());
    let seen = outcome.seen().expect("told");
    assert!(!seen.is_recorded() && !seen.is_replayed() && !seen.had_vanished());
    assert_eq!((*outcome, runs.count()), (1, 1));
    let counted = counts.take();
    assert_eq!(counted.sum(UNRECORDED, &[("operation", "story")]), 1, "{counted:?}");
    assert_eq!(counted.sum(STORE_ERRORS, &[]), 1, "{counted:?}");
    assert_eq!(counted.sum(STORE_ERRORS, &[("op", "complete"), ("kind", "unavailable")]), 1, "{counted:?}");
    assert_eq!(counted.sum(CALLS, &[("outcome", "executed")]), 1, "{counted:?}");

    set_full(&server, false);
    let freed = Instant::now();
    let (_, is_takeover) = until_it_runs(&engine, "k").await;
    assert!(is_takeover);
    assert!(freed.elapsed() < SHORT_LEASE + LATE, "{:?}", freed.elapsed());
}

#[tokio::test]
async fn a_result_is_recorded_once_there_is_memory_again() {
    let server = server();
    let engine = engine_at(&server.url(), LONG_LEASE);
    let monitor = Monitor::start(&server).expect("a monitor");
    let runs = Runs::default();
    let completes = call_around(&engine, "k", &runs, async || set_full(&server, true));
    let is_freed = async {
        let tries = || {
            let commands = monitor.client_commands().expect("the monitor");
            commands.iter().filter(|command| command.name() == "EVALSHA").count()
        };
        eventually("it was refused and sent again", || tries() > 2).await;
        set_full(&server, false);
    };
    let (ended, ()) = tokio::join!(completes, is_freed);
    assert!(ended.expect("executed").seen().expect("told").is_recorded());
    let again = call_around(&engine, "k", &runs, async || {}).await.expect("replayed");
    assert!(again.seen().expect("told").is_replayed());
    assert_eq!(runs.count(), 1);
}

/// Case O-21, scenario F10: no record says "free" as well as a released one. Only the attempts start again.
#[tokio::test]
async fn a_release_without_memory_frees_the_key() {
    let server = server();
    let engine = engine_at(&server.url(), LONG_LEASE);
    fails_after(&engine, "k", async || set_full(&server, true)).await;
    assert_eq!(value(&server, &record_of("k")), None);
    let (kind, said) = trouble(call(&engine, "k", &Runs::default()).await);
    assert_eq!(kind, "unavailable");
    assert!(said.contains("OOM"), "{said}");

    set_full(&server, false);
    assert_eq!(until_it_runs(&engine, "k").await, (1, false));
}

/// Scenario F10, after a takeover: that an earlier attempt may have had its effect is not forgotten for want of memory.
#[tokio::test]
async fn a_release_without_memory_ends_the_lease_of_a_takeover() {
    let server = server();
    let engine = engine_at(&server.url(), LONG_LEASE);
    crash(&engine, "k").await;
    end_lease(&server, &record_of("k"));
    fails_after(&engine, "k", async || {
        assert!(!lease_is_over(&server, "k"));
        set_full(&server, true);
    })
    .await;
    let left = value(&server, &record_of("k")).expect("the record stays");
    assert!(left.starts_with(b"1I"), "{}", String::from_utf8_lossy(&left));
    assert!(lease_is_over(&server, "k") && pttl(&server, &record_of("k")) > 0);

    set_full(&server, false);
    let free = Instant::now();
    assert_eq!(until_it_runs(&engine, "k").await, (3, true));
    assert!(free.elapsed() < LATE, "at once: {:?}", free.elapsed());
}

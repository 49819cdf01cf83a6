//! Leases and retentions as the server sees them.

use std::time::Duration;

use idem::{Engine, Error, ErrorKind, Policy, RedisStore};
use test_support::RedisServer;

use crate::support::{Runs, engine_with, kind, pool, pttl, server};

async fn pttls(server: &RedisServer, policy: Policy) -> (i64, i64) {
    let engine = engine_with(server, policy);
    let key = format!("{policy:?}");
    let call = engine.operation("time").key(&key).fingerprint(&());
    let stored = || {
        let keys = server.command(&["KEYS", "idem:*"]).expect("KEYS");
        let test_support::Reply::Array(keys) = keys else { panic!("{keys:?}") };
        let key = keys.first().and_then(test_support::Reply::text).expect("one key");
        pttl(server, &key)
    };
    let in_flight = call.run(async |_| Ok::<_, Error>(stored())).await.expect("executed");
    let settled = stored();
    server.command(&["FLUSHALL"]).expect("FLUSHALL");
    (in_flight, settled)
}

fn close(left: i64, expected: i64) -> bool {
    // A busy machine may take its time between the write and the look.
    (expected - 100..=expected).contains(&left)
}

/// Case O-34.
#[tokio::test]
async fn short_durations_are_honoured_to_the_millisecond() {
    let server = server();
    for millis in [250, 1500] {
        let policy = Policy::new().lease(Duration::from_millis(100)).retention(Duration::from_millis(millis));
        let (in_flight, settled) = pttls(&server, policy).await;
        let millis = i64::try_from(millis).unwrap();
        assert!(close(in_flight, millis), "{in_flight} of {millis}");
        assert!(close(settled, millis), "{settled} of {millis}");
    }
}

/// Case O-34: nothing becomes zero, and one millisecond is one.
#[tokio::test]
async fn a_retention_of_a_millisecond_ends_and_the_next_call_runs() {
    let server = server();
    for (key, retention) in [("nano", Duration::from_nanos(1)), ("milli", Duration::from_millis(1))] {
        let engine = engine_with(&server, Policy::new().retention(retention));
        let runs = Runs::default();
        let call = || {
            let call = engine.operation("time").key(key).fingerprint(&());
            call.run(async |_| Ok::<_, Error>(runs.add()))
        };
        assert_eq!(call().await.unwrap(), 1);
        test_support::expect_within(Duration::from_secs(5), || pttl(&server, &format!("idem:{{time::{key}}}")) == -2);
        assert_eq!(call().await.unwrap(), 2);
    }
}

/// Cases O-34 and O-35: what cannot be is refused when the engine is built, or before anything is sent.
#[tokio::test]
async fn impossible_durations_are_refused_before_anything_runs() {
    let server = server();
    let impossible = [
        Policy::new().lease(Duration::ZERO),
        Policy::new().retention(Duration::ZERO),
        Policy::new().lease(Duration::MAX),
        Policy::new().retention(Duration::MAX),
        Policy::new().retention(Duration::from_secs(u64::MAX)),
        Policy::new().retention(Duration::from_millis(i64::MAX.unsigned_abs())),
    ];
    let engine = engine_with(&server, Policy::new());
    for policy in impossible {
        let built = Engine::builder(RedisStore::new(pool(&server, 1))).policy(policy).build();
        built.expect_err("refused when built");
        let runs = Runs::default();
        let call = engine.operation("time").policy(policy).key("k").fingerprint(&());
        assert_eq!(kind(call.run(async |_| Ok::<_, Error>(runs.add())).await), ErrorKind::Config);
        assert_eq!(runs.count(), 0);
    }
}

/// Case O-35: the longest durations that are accepted work on the server.
#[tokio::test]
async fn the_longest_retention_is_kept_and_replayed() {
    let server = server();
    let longest = Policy::new().lease(Policy::MAX_DURATION).retention(Policy::MAX_DURATION);
    let engine = engine_with(&server, longest);
    let runs = Runs::default();
    for _ in 0..2 {
        let call = engine.operation("time").key("long").fingerprint(&());
        assert_eq!(call.run(async |_| Ok::<_, Error>(runs.add())).await.unwrap(), 1);
    }
    let left = pttl(&server, "idem:{time::long}");
    let ten_years = i64::try_from(Policy::MAX_DURATION.as_millis()).unwrap();
    assert!((ten_years - 60_000..=ten_years).contains(&left), "{left}");
}

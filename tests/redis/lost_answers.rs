//! Answers that are lost, late, or meant for a caller who is gone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use idem::metrics::{CALLS, STORE_ERRORS};
use idem::{ErrorKind, Policy};
use metrics_util::debugging::DebuggingRecorder;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use test_support::{Command, Direction, Monitor, Proxy, RedisServer};

use crate::support::{Runs, server};
use crate::trouble::{
    AMPLE, BOUND, Counts, LATE, LONG_LEASE, SHORT_LEASE, builder_at, call, call_around, crash, end_lease, engine_at,
    eventually, record_of, result_of, texts, times_settled, trouble, until_it_runs, warm,
};

fn behind_a_proxy() -> (RedisServer, Proxy) {
    let server = server();
    let proxy = Proxy::start(server.port()).expect("a proxy");
    (server, proxy)
}

/// How many commands about the record of "k" arrived: which ones is the server's version's business.
fn sent(monitor: &Monitor) -> usize {
    let record = record_of("k");
    let is_about = |command: &&Command| command.words().iter().any(|word| *word == record.as_bytes());
    monitor.client_commands().expect("the monitor").iter().filter(is_about).count()
}

/// Swallows answers until one is lost, then breaks the connections: what was lost does not come any more.
async fn loses_an_answer(proxy: &Proxy) {
    proxy.black_hole(Direction::ToClient, true);
    eventually("an answer is lost", || proxy.swallowed(Direction::ToClient) > 0).await;
    proxy.black_hole(Direction::ToClient, false);
    proxy.cut();
}

/// Case O-17, its first half: the claim asks again under its own token.
#[tokio::test]
async fn a_claim_whose_answer_is_lost_recognises_itself() {
    let (server, proxy) = behind_a_proxy();
    let engine = engine_at(&proxy.url(), LONG_LEASE);
    warm(&engine).await;
    let monitor = Monitor::start(&server).expect("a monitor");
    let runs = Runs::default();
    let ((), ended) = tokio::join!(loses_an_answer(&proxy), call_around(&engine, "k", &runs, async || {}));
    let outcome = ended.expect("executed");
    let seen = outcome.seen().expect("told");
    assert!(!seen.is_replayed() && seen.is_recorded());
    assert_eq!((seen.attempt(), runs.count()), (1, 1));
    assert!(sent(&monitor) > 2, "two claims and a completion");
}

#[tokio::test]
async fn a_takeover_whose_answer_is_lost_is_told_all_the_same() {
    let (server, proxy) = behind_a_proxy();
    // It takes the script to find that a lease is over; here it comes first.
    let engine = builder_at(&proxy.url(), false).build().expect("a valid policy");
    warm(&engine).await;
    crash(&engine_at(&server.url(), LONG_LEASE), "k").await;
    end_lease(&server, &record_of("k"));
    let monitor = Monitor::start(&server).expect("a monitor");
    let ((), attempt) = tokio::join!(loses_an_answer(&proxy), until_it_runs(&engine, "k"));
    assert_eq!(attempt, (2, true));
    assert!(sent(&monitor) > 2, "two claims and a completion");
}

/// Case O-17, its second half: nothing ran, nothing is left, and it is told once. The answers come back too late.
#[tokio::test]
async fn a_claim_that_stays_unanswered_is_released() {
    let (server, proxy) = behind_a_proxy();
    let engine = engine_at(&proxy.url(), LONG_LEASE);
    let other = engine_at(&server.url(), LONG_LEASE);
    warm(&engine).await;
    let recorder = DebuggingRecorder::new();
    let counts = Counts::of(&recorder);
    let _guard = metrics::set_default_local_recorder(&recorder);
    let runs = Runs::default();
    proxy.hold(Direction::ToClient, true);
    let began = Instant::now();
    let (kind, said) = trouble(call(&engine, "k", &runs).await);
    assert_eq!(kind, "ambiguous", "{said}");
    assert!(began.elapsed() < BOUND + LATE, "{:?}", began.elapsed());
    assert_eq!(runs.count(), 0);
    let counted = counts.take();
    assert_eq!(counted.sum(STORE_ERRORS, &[]), 1, "{counted:?}");
    assert_eq!(counted.sum(STORE_ERRORS, &[("op", "claim"), ("kind", "ambiguous")]), 1, "{counted:?}");
    assert_eq!(counted.sum(CALLS, &[("outcome", "store_error")]), 1, "{counted:?}");

    proxy.hold(Direction::ToClient, false);
    // Long before the lease ends, and as nothing ran under it, it is no takeover.
    let began = Instant::now();
    assert_eq!(until_it_runs(&other, "k").await, (2, false));
    assert!(began.elapsed() < LONG_LEASE / 2, "{:?}", began.elapsed());
    for key in ["a", "b", "c", "d", "e", "f"] {
        assert_eq!(call(&engine, key, &runs).await.expect("executed"), result_of(key));
    }
}

/// Case O-17: its request arrives after everybody has given up.
#[tokio::test]
async fn a_claim_that_arrives_late_holds_for_one_lease_at_most() {
    let (server, proxy) = behind_a_proxy();
    let engine = engine_at(&proxy.url(), SHORT_LEASE);
    let other = engine_at(&server.url(), SHORT_LEASE);
    warm(&engine).await;
    proxy.hold(Direction::ToServer, true);
    let runs = Runs::default();
    let (kind, said) = trouble(call(&engine, "k", &runs).await);
    assert_eq!(kind, "ambiguous", "{said}");
    proxy.hold(Direction::ToServer, false);
    eventually("it arrives", || proxy.held(Direction::ToServer) == 0).await;
    let began = Instant::now();
    until_it_runs(&other, "k").await;
    assert!(began.elapsed() < SHORT_LEASE + LATE, "{:?}", began.elapsed());
    assert_eq!(runs.count(), 0);
}

/// Scenario F20: the completion was applied, its answer lost. Met as a reset, and as silence.
#[tokio::test]
async fn a_completion_whose_answer_is_lost_recognises_itself() {
    for reset in [true, false] {
        let (server, proxy) = behind_a_proxy();
        let engine = engine_at(&proxy.url(), LONG_LEASE);
        warm(&engine).await;
        let monitor = Monitor::start(&server).expect("a monitor");
        let runs = Runs::default();
        let (begun, body) = tokio::sync::oneshot::channel();
        let completes = call_around(&engine, "k", &runs, async || {
            proxy.black_hole(Direction::ToClient, true);
            begun.send(sent(&monitor)).expect("awaited");
        });
        let recovers = async {
            let before = body.await.expect("begun");
            let tries = if reset { 1 } else { 2 };
            eventually("it is sent", || sent(&monitor) >= before + tries).await;
            loses_an_answer(&proxy).await;
        };
        let (ended, ()) = tokio::join!(completes, recovers);
        let outcome = ended.expect("executed");
        let seen = outcome.seen().expect("told");
        assert!(!seen.is_replayed() && seen.is_recorded() && !seen.had_vanished());
        assert!(sent(&monitor) > 2, "a claim and two completions");
        assert_eq!(times_settled(&monitor, "k"), 1);
        let again = call_around(&engine, "k", &runs, async || {}).await.expect("replayed");
        assert!(again.seen().expect("told").is_replayed());
        assert_eq!((again.into_inner(), runs.count()), (1, 1));
    }
}

/// Case O-22. Results are kept for so short that keys are claimed, completed and replayed all through the storm.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn among_dropped_callers_nobody_is_given_anothers_answer() {
    const CALLS: u64 = 2000;
    const KEYS: u64 = 50;
    let (_server, proxy) = behind_a_proxy();
    let policy = Policy::new().lease(SHORT_LEASE * 2).retention(Duration::from_millis(100));
    let engine = builder_at(&proxy.url(), true).store_bound(AMPLE).policy(policy).build().unwrap();
    let runs = Arc::new(Runs::default());
    let mut random = StdRng::seed_from_u64(22);
    let (mut given, mut dropped, mut conflicts) = (0, 0, 0);
    for _ in 0..CALLS / KEYS {
        proxy.delay(Direction::ToClient, Duration::from_millis(random.random_range(1..=3)));
        let calls: Vec<_> = (0..KEYS)
            .map(|_| {
                let (engine, runs) = (engine.clone(), Arc::clone(&runs));
                let key = format!("key {}", random.random_range(0..KEYS));
                let patience = random.random_bool(0.5).then(|| Duration::from_micros(random.random_range(0..5000)));
                tokio::spawn(async move {
                    let ended = tokio::time::timeout(patience.unwrap_or(AMPLE), call(&engine, &key, &runs)).await;
                    (result_of(&key), ended)
                })
            })
            .collect();
        for ended in calls {
            match ended.await.expect("no panic") {
                (expected, Ok(Ok(value))) => {
                    assert_eq!(value, expected);
                    given += 1;
                }
                (_, Ok(Err(error))) => {
                    assert_eq!(error.kind(), ErrorKind::InFlight, "{}", texts(&error));
                    conflicts += 1;
                }
                (_, Err(_)) => dropped += 1,
            }
        }
    }
    // The storm was one: many callers went away, and many did not.
    assert!(given > 200 && dropped > 200, "{given} given, {dropped} dropped, {conflicts} refused");

    for key in (0..KEYS).map(|number| format!("key {number}")) {
        let began = Instant::now();
        loop {
            match call(&engine, &key, &runs).await {
                Ok(value) => break assert_eq!(value, result_of(&key)),
                Err(error) => assert_eq!(error.kind(), ErrorKind::InFlight, "{}", texts(&error)),
            }
            assert!(began.elapsed() < AMPLE, "a dropped call holds {key}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

//! Connections that break, servers that stop and come back, and other users of the same pool.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use idem::metrics::{STORE_ERRORS, VANISHED};
use idem::{Engine, RedisStore};
use metrics_util::debugging::DebuggingRecorder;
use test_support::{Monitor, RedisServer};

use crate::support::{Runs, pool, server};
use crate::trouble::{
    AMPLE, BOUND, Counts, LATE, LONG_LEASE, SHORT_LEASE, builder_at, call, call_around, engine_at, info, result_of,
    times_settled, trouble, warm, works_again,
};

fn durable() -> RedisServer {
    let options = ["--appendonly", "yes", "--appendfsync", "always"];
    RedisServer::builder().args(options).start().expect("a private redis-server")
}

/// Closes every connection but the one that asks for it.
fn kill_connections(server: &RedisServer) {
    let killed = server.command(&["CLIENT", "KILL", "TYPE", "normal"]).expect("CLIENT KILL").int();
    assert!(killed.expect("a count") >= 3, "all lanes were there: {killed:?}");
}

/// Case O-23: the next calls find the dead lanes, and replace them without a word.
#[tokio::test]
async fn killed_connections_are_replaced_and_no_call_fails() {
    let server = server();
    let engine = engine_at(&server.url(), LONG_LEASE);
    let recorder = DebuggingRecorder::new();
    let counts = Counts::of(&recorder);
    let _guard = metrics::set_default_local_recorder(&recorder);
    let runs = Runs::default();
    for round in 0..3 {
        warm(&engine).await;
        kill_connections(&server);
        for number in 0..20 {
            let key = format!("{round} {number}");
            assert_eq!(call(&engine, &key, &runs).await.expect("executed"), result_of(&key));
        }
        server.command(&["DEL", "idem:{warm::k}"]).expect("DEL");
    }
    assert_eq!(runs.count(), 60);
    let counted = counts.take();
    for verb in ["claim", "complete", "release"] {
        assert_eq!(counted.sum(STORE_ERRORS, &[("op", verb)]), 0, "{counted:?}");
    }
}

/// Case O-23: it goes on to renew, and it completes.
#[tokio::test]
async fn a_running_call_survives_its_connections() {
    let server = server();
    let engine = engine_at(&server.url(), SHORT_LEASE);
    let other = engine_at(&server.url(), SHORT_LEASE);
    warm(&engine).await;
    let runs = Runs::default();
    let ended = call_around(&engine, "k", &runs, async || {
        kill_connections(&server);
        let began = Instant::now();
        while began.elapsed() < SHORT_LEASE * 2 {
            call(&other, "k", &runs).await.expect_err("in flight");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        kill_connections(&server);
    });
    let outcome = ended.await.expect("executed");
    assert!(outcome.seen().expect("told").is_recorded());
    assert_eq!((outcome.seen().expect("told").attempt(), runs.count()), (1, 1));
}

/// Case O-23.
#[tokio::test]
async fn a_server_that_comes_back_is_used_again_by_the_same_engine() {
    let server = durable();
    let engine = engine_at(&server.url(), LONG_LEASE);
    warm(&engine).await;
    let runs = Runs::default();
    call(&engine, "before", &runs).await.expect("executed");
    server.stop().expect("a stop");
    for _ in 0..3 {
        trouble(call(&engine, "meanwhile", &runs).await);
    }
    server.restart().expect("a restart");
    for key in ["before", "meanwhile", "a", "b", "c"] {
        works_again(&engine, key, &runs).await;
    }
    assert_eq!(runs.count(), 5);
}

/// Case O-23: the server is gone when the body ends, and comes back before the lease is over.
#[tokio::test]
async fn a_result_waits_for_a_server_that_comes_back_before_the_lease_ends() {
    let server = durable();
    let engine = engine_at(&server.url(), LONG_LEASE);
    warm(&engine).await;
    let recorder = DebuggingRecorder::new();
    let counts = Counts::of(&recorder);
    let _guard = metrics::set_default_local_recorder(&recorder);
    let runs = Runs::default();
    let (stopped, is_stopped) = tokio::sync::oneshot::channel();
    let completes = call_around(&engine, "k", &runs, async || {
        server.kill().expect("a kill");
        stopped.send(()).expect("awaited");
    });
    let comes_back = async {
        is_stopped.await.expect("stopped");
        tokio::time::sleep(Duration::from_millis(300)).await;
        server.restart().expect("a restart");
    };
    let (ended, ()) = tokio::join!(completes, comes_back);
    let outcome = ended.expect("executed");
    assert!(outcome.seen().expect("told").is_recorded() && !outcome.seen().expect("told").had_vanished());
    let again = call_around(&engine, "k", &runs, async || {}).await.expect("replayed");
    assert!(again.seen().expect("told").is_replayed());
    assert_eq!(runs.count(), 1);
    assert_eq!(counts.take().sum(VANISHED, &[]), 0);
}

#[tokio::test]
async fn a_frozen_server_is_given_up_in_time_and_used_again_once_it_thaws() {
    let server = server();
    let engine = engine_at(&server.url(), LONG_LEASE);
    warm(&engine).await;
    let runs = Runs::default();
    server.freeze().expect("a freeze");
    // Lanes that were there, then lanes that cannot be made.
    for number in 0..4 {
        let began = Instant::now();
        let (kind, said) = trouble(call(&engine, &format!("frozen {number}"), &runs).await);
        assert!(began.elapsed() < BOUND + LATE, "{:?}", began.elapsed());
        assert!(["ambiguous", "unavailable"].contains(&kind), "{said}");
    }
    assert_eq!(runs.count(), 0);
    server.thaw().expect("a thaw");
    for key in ["a", "b", "c", "d"] {
        works_again(&engine, key, &runs).await;
    }
    assert_eq!(runs.count(), 4);
}

/// A freeze that one try outlasts, and one that takes several: what was sent meanwhile is all carried out after the thaw.
#[tokio::test]
async fn a_completion_during_a_freeze_is_recorded_once() {
    for bound in [AMPLE, BOUND] {
        let server = server();
        let engine = builder_at(&server.url(), true).store_bound(bound).build().expect("a valid policy");
        warm(&engine).await;
        let monitor = Monitor::start(&server).expect("a monitor");
        let runs = Runs::default();
        let (frozen, is_frozen) = tokio::sync::oneshot::channel();
        let completes = call_around(&engine, "k", &runs, async || {
            server.freeze().expect("a freeze");
            frozen.send(()).expect("awaited");
        });
        let thaws = async {
            is_frozen.await.expect("frozen");
            tokio::time::sleep(BOUND * 5 / 4).await;
            server.thaw().expect("a thaw");
        };
        let (ended, ()) = tokio::join!(completes, thaws);
        let outcome = ended.expect("executed");
        assert!(outcome.seen().expect("told").is_recorded());
        assert_eq!(times_settled(&monitor, "k"), 1);
        let again = call_around(&engine, "k", &runs, async || {}).await.expect("replayed");
        assert!(again.seen().expect("told").is_replayed());
        assert_eq!(runs.count(), 1);
    }
}

/// Callers who hang up while a connection is made leave nothing behind that the next ones stumble over.
#[tokio::test]
async fn a_connection_that_nobody_waited_for_is_made_anew() {
    let server = server();
    let engines = [(); 2].map(|()| engine_at(&server.url(), LONG_LEASE));
    let runs = Runs::default();
    for (gone, engine) in engines.iter().enumerate() {
        for _ in 0..=gone {
            assert!(call(engine, "gone", &runs).now_or_never().is_none(), "it takes more than one poll");
        }
    }
    // Longer than making a connection may take.
    tokio::time::sleep(BOUND).await;
    for engine in &engines {
        for key in ["a", "b", "c", "d"] {
            assert_eq!(call(engine, key, &runs).await.expect("given"), result_of(key));
        }
    }
    assert_eq!(runs.count(), 4);
}

/// The pool waits for ever for a free connection, and there is none.
#[tokio::test]
async fn an_exhausted_pool_stops_no_call() {
    let server = server();
    let pool = pool(&server, 1);
    let _taken = pool.get().await.expect("its only connection");
    let engine = Engine::new(RedisStore::new(pool.clone()));
    let runs = Runs::default();
    for key in ["a", "b", "a"] {
        let call = call(&engine, key, &runs);
        let given = tokio::time::timeout(BOUND + LATE, call).await.expect("it does not hang");
        assert_eq!(given.expect("given"), result_of(key));
    }
    assert_eq!((runs.count(), pool.status().size), (2, 1));
}

#[tokio::test]
async fn what_others_do_with_their_connections_does_not_touch_our_commands() {
    let server = Arc::new(server());
    let pool = pool(&server, 2);
    let engine = Engine::new(RedisStore::new(pool.clone()));
    let runs = Runs::default();
    let mut transaction = pool.get().await.expect("a connection");
    let mut blocking = pool.get().await.expect("a connection");
    redis::cmd("MULTI").exec_async(&mut transaction).await.expect("MULTI");
    redis::cmd("SET").arg("theirs").arg(1).exec_async(&mut transaction).await.expect("queued");
    blocking.set_response_timeout(AMPLE);
    let popped = tokio::spawn(async move {
        let mut pop = redis::cmd("BLPOP");
        pop.arg("list").arg(0);
        pop.query_async::<(String, String)>(&mut blocking).await
    });
    while !info(&server, "clients").contains("blocked_clients:1") {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    let calls = async {
        for key in ["a", "b", "c", "d", "a"] {
            assert_eq!(call(&engine, key, &runs).await.expect("given"), result_of(key));
        }
    };
    tokio::time::timeout(BOUND + LATE, calls).await.expect("nothing of ours waits behind theirs");
    assert_eq!(runs.count(), 4);
    let theirs: Vec<String> = redis::cmd("EXEC").query_async(&mut transaction).await.expect("EXEC");
    assert_eq!(theirs, ["OK"], "nothing of ours was queued");
    server.command(&["RPUSH", "list", "x"]).expect("RPUSH");
    assert_eq!(popped.await.expect("no panic").expect("popped"), ("list".to_owned(), "x".to_owned()));
}

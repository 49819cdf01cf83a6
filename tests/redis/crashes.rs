//! Bodies that fail, panic, or whose process is killed.

use std::time::{Duration, Instant};

use idem::{Attempt, Engine, Error, ErrorKind, Policy, RedisStore};
use metrics_util::debugging::DebuggingRecorder;

use crate::support::{LEASE, Runs, child, engine, engine_with, keys, server, value};

/// Calls until it runs, as a sender that repeats does; gives what it saw on the way.
async fn until_it_runs(engine: &Engine, operation: &'static str) -> (Attempt, u32) {
    let mut conflicts = 0;
    loop {
        let call = engine.operation(operation).key("k").fingerprint(&());
        let mut seen = None;
        let ended = call.run(async |attempt| {
            seen = Some(attempt);
            Ok::<_, Error>(())
        });
        match ended.await {
            Ok(()) => return (seen.expect("it ran"), conflicts),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::InFlight);
                let wait = error.retry_after().expect("what is left of the lease");
                assert!(wait <= LEASE, "{wait:?}");
                conflicts += 1;
                tokio::time::sleep(wait.min(Duration::from_millis(50))).await;
            }
        }
    }
}

const CHILD_URL: &str = "IDEM_TEST_CHILD_URL";

/// The child of the test below: claims, says so, and never ends by itself.
#[tokio::test]
async fn child_that_claims_and_hangs() {
    let Ok(url) = std::env::var(CHILD_URL) else { return };
    let policy = Policy::new().lease(LEASE);
    let engine = Engine::builder(RedisStore::from_url(&url).unwrap()).policy(policy).build().unwrap();
    let call = engine.operation("job").key("k").fingerprint(&());
    let hangs = call.run(async |attempt| {
        println!("claimed {}", attempt.fence());
        std::future::pending::<Result<(), Error>>().await
    });
    hangs.await.unwrap();
}

/// Case O-11. The retention is a day: what frees the key is the lease.
#[tokio::test]
async fn a_killed_worker_is_taken_over_when_its_lease_ends() {
    let server = server();
    let engine = engine_with(&server, Policy::new().lease(LEASE));
    let mut child = child("crashes::child_that_claims_and_hangs", CHILD_URL, &server.url()).spawn().unwrap();
    let lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let said = lines.map_while(Result::ok).find_map(|line| Some(line.split_once("claimed ")?.1.to_owned()));
    let fence: u64 = said.expect("the child claimed").trim().parse().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = Instant::now();

    let (attempt, conflicts) = until_it_runs(&engine, "job").await;
    assert!(conflicts > 0, "it was in flight at first");
    assert!(killed.elapsed() < LEASE + Duration::from_millis(200), "{:?}", killed.elapsed());
    assert!(attempt.fence().get() > fence);
    assert_eq!((attempt.number(), attempt.is_takeover()), (2, true));
}

/// Case O-13.
#[tokio::test]
async fn a_panic_passes_unchanged_and_the_next_call_takes_over() {
    let recorder = DebuggingRecorder::new();
    let snapshots = recorder.snapshotter();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let server = server();
    let engine = engine(&server);
    for (at, operation) in ["panics before", "panics between", "panics after"].into_iter().enumerate() {
        let call = engine.operation(operation).key("k").fingerprint(&());
        let claimed = Instant::now();
        let panicking = call.run(async move |_| {
            for step in 0..3 {
                assert!(step != at, "boom");
                tokio::task::yield_now().await;
            }
            Ok::<(), Error>(())
        });
        let ended = tokio::spawn(panicking).await.expect_err("a panic");
        assert!(ended.is_panic());
        let payload = ended.into_panic();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"boom"));

        let began = Instant::now();
        let (attempt, conflicts) = until_it_runs(&engine, operation).await;
        assert!(began.elapsed() < LEASE + Duration::from_millis(200), "{:?}", began.elapsed());
        // On a machine that stood still for a lease there was nothing to meet.
        assert!(conflicts > 0 || began - claimed > LEASE * 9 / 10, "{:?}", began - claimed);
        assert_eq!((attempt.number(), attempt.is_takeover()), (2, true));
    }
    let gauges = snapshots.snapshot().into_vec().into_iter().filter(|(key, ..)| key.key().name() == "idem_in_flight");
    let values: Vec<_> = gauges.map(|(_, _, _, value)| value).collect();
    assert_eq!(values.len(), 3);
    assert!(values.iter().all(|value| *value == metrics_util::debugging::DebugValue::Gauge(0.0.into())), "{values:?}");
}

#[tokio::test]
async fn a_panic_while_the_key_is_made_leaves_no_claim() {
    struct Panics;
    impl idem::IdempotencyKey for Panics {
        fn write_key(&self, _: &mut idem::KeyWriter) {
            panic!("no key");
        }
    }
    let server = server();
    let engine = engine(&server);
    let ended = tokio::spawn(async move {
        engine.operation("job").key(&Panics).fingerprint(&()).run(async |_| Ok::<_, Error>(())).await
    });
    assert!(ended.await.unwrap_err().is_panic());
    assert_eq!(keys(&server), 0);
}

#[derive(Debug, PartialEq, thiserror::Error)]
enum Declined {
    #[error("no funds: {0}")]
    Funds(u32),
    #[error("idem")]
    Idem,
}

impl From<Error> for Declined {
    fn from(_: Error) -> Self {
        Self::Idem
    }
}

/// Case O-15, its default half: an error is not kept.
#[tokio::test]
async fn an_error_passes_unchanged_and_the_next_call_runs() {
    let server = server();
    let engine = engine(&server);
    let runs = Runs::default();
    let call = async || {
        let call = engine.operation("pay").key("k").fingerprint(&());
        call.run(async |attempt| match runs.add() {
            1 => Err(Declined::Funds(7)),
            _ => Ok(attempt.number()),
        })
        .await
    };
    assert_eq!(call().await, Err(Declined::Funds(7)));
    let released = value(&server, "idem:{pay::k}").expect("the record stays");
    assert!(released.starts_with(b"1R"), "{}", String::from_utf8_lossy(&released));
    assert_eq!(call().await, Ok(2), "no takeover: the attempt before gave up by itself");
    assert_eq!(call().await, Ok(2));
    assert_eq!(runs.count(), 2);
}

/// An attempt that was taken over may have had its effect; an attempt that fails in between does not undo that.
#[tokio::test]
async fn a_takeover_is_not_forgotten_by_a_failure_after_it() {
    let server = server();
    let engine = engine(&server);
    let operation = || engine.operation("pay").key("k").fingerprint(&());
    let crash = operation().run(async |_| std::future::pending::<Result<(), Declined>>().await);
    tokio::time::timeout(Duration::from_millis(20), crash).await.expect_err("dropped in its body");
    tokio::time::sleep(LEASE + Duration::from_millis(20)).await;
    for attempt in 2..4 {
        let failed = operation().run(async |now| {
            assert_eq!((now.number(), now.is_takeover()), (attempt, true));
            Err::<(), _>(Declined::Funds(1))
        });
        assert_eq!(failed.await, Err(Declined::Funds(1)));
    }
    let (last, _) = until_it_runs(&engine, "pay").await;
    assert_eq!((last.number(), last.is_takeover()), (4, true));
}

#[tokio::test]
async fn a_late_failure_does_not_free_the_claim_of_who_followed() {
    let server = server();
    // Never renewed, so that another call can follow while the body still runs.
    let unrenewed = Policy::new().lease(LEASE).retention(Duration::from_secs(60)).max_run(Duration::from_millis(1));
    let (a, b) = (engine_with(&server, unrenewed), engine(&server));
    let operation = |engine: &Engine| engine.operation("pay").key("k").fingerprint(&());
    let (started, running) = tokio::sync::oneshot::channel();
    let (follows_now, end) = tokio::sync::oneshot::channel();
    let late = operation(&a).run(async |_| {
        started.send(()).unwrap();
        end.await.unwrap();
        Err::<u32, Declined>(Declined::Funds(1))
    });
    let (failed, gone) = tokio::sync::oneshot::channel();
    let late = async {
        assert_eq!(late.await, Err(Declined::Funds(1)));
        failed.send(()).unwrap();
    };
    let follower = async {
        running.await.unwrap();
        tokio::time::sleep(LEASE + Duration::from_millis(20)).await;
        let follows = operation(&b).run(async |attempt| {
            follows_now.send(()).unwrap();
            gone.await.unwrap();
            // The late owner has failed and is gone, and this claim still stands.
            assert!(value(&server, "idem:{pay::k}").unwrap().starts_with(b"1I"));
            Ok::<_, Declined>((attempt.number(), attempt.is_takeover()))
        });
        assert_eq!(follows.await, Ok((2, true)));
    };
    tokio::join!(late, follower);
    assert!(value(&server, "idem:{pay::k}").unwrap().starts_with(b"1C"));
}

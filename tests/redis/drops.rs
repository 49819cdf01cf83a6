//! Calls that are dropped: at a time limit, at any poll.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use idem::{Engine, Error, ErrorKind, MemoryStore, Outcome, metrics};
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use rand::{RngExt as _, SeedableRng as _};
use test_support::{Direction, Monitor};

use crate::actors::{KEY, Remote, follow, job, renewals, short};
use crate::support::{LEASE, Runs, engine, pttl, server, value};
use crate::trouble::{LATE, eventually};

/// The outcome of `future`, or `None` if it is not done after `polls` polls; it is dropped then.
async fn dropped_after<F: Future>(polls: u32, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut done = 0;
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => {
            done += 1;
            if done < polls { Poll::Pending } else { Poll::Ready(None) }
        }
    })
    .await
}

/// The gauge of running bodies and the sum of all outcomes, read again and again: a snapshot takes what changed since the
/// last one.
struct InFlight {
    snapshots: Snapshotter,
    now: f64,
    outcomes: u64,
}

impl InFlight {
    fn of(recorder: &DebuggingRecorder) -> Self {
        Self { snapshots: recorder.snapshotter(), now: 0.0, outcomes: 0 }
    }

    fn look(&mut self) {
        for (key, _, _, value) in self.snapshots.snapshot().into_vec() {
            match (key.key().name(), value) {
                (metrics::IN_FLIGHT, DebugValue::Gauge(change)) => self.now += change.0,
                (metrics::CALLS, DebugValue::Counter(change)) => self.outcomes += change,
                _ => {}
            }
        }
        assert!(self.now > -0.5, "{}", self.now);
    }
}

/// Case O-14.
#[tokio::test]
async fn a_body_that_ran_into_a_time_limit_is_renewed_no_more() {
    let recorder = DebuggingRecorder::new();
    let mut in_flight = InFlight::of(&recorder);
    let _guard = ::metrics::set_default_local_recorder(&recorder);
    let server = server();
    let (a, b) = (engine(&server), engine(&server));
    let monitor = Monitor::start(&server).expect("a monitor");
    let slow = job(&a).run(async |_| std::future::pending::<Result<u32, Error>>().await);
    let limit = async {
        eventually("renewed", || renewals(&monitor) > 2).await;
        in_flight.look();
        assert!((in_flight.now - 1.0).abs() < 0.5, "{}", in_flight.now);
    };
    tokio::select! {
        _ = slow => panic!("it never ends"),
        () = limit => {}
    }
    let (dropped, sent) = (Instant::now(), renewals(&monitor));
    in_flight.look();
    assert!(in_flight.now.abs() < 0.5, "{}", in_flight.now);
    assert_eq!(in_flight.outcomes, 1, "dropped");
    let next = follow(&b, 2).await;
    assert!(dropped.elapsed() < LEASE + LATE, "{:?}", dropped.elapsed());
    assert_eq!((next.number(), next.is_takeover()), (2, true));
    assert_eq!(renewals(&monitor), sent, "its lease was not prolonged");
}

/// Case O-14: before the claim is sent, before it is answered, in the body, before the completion is answered.
#[tokio::test]
async fn a_call_dropped_at_any_poll_leaves_a_key_that_is_free_or_will_be() {
    let server = server();
    let b = engine(&server);
    let mut stages = Vec::new();
    for polls in 1.. {
        server.command(&["FLUSHALL"]).expect("FLUSHALL");
        let a = Remote::bounded(&server, short(), Duration::from_secs(10));
        a.proxy.delay(Direction::ToClient, Duration::from_millis(20));
        let runs = Runs::default();
        let call = job(&a.engine).run(async |_| {
            runs.add();
            for _ in 0..3 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            Ok::<Outcome<u32>, Error>(1.into())
        });
        let ended = dropped_after(polls, call).await;
        let dropped = Instant::now();
        let (after, answer) = loop {
            let repeat = job(&b).run(async |_| {
                runs.add();
                Ok::<Outcome<u32>, Error>(2.into())
            });
            match repeat.await {
                Ok(answer) => break (dropped.elapsed(), answer),
                Err(error) => assert_eq!(error.kind(), ErrorKind::InFlight, "{polls} polls"),
            }
            assert!(value(&server, KEY).is_none() || pttl(&server, KEY) != -1, "{polls} polls");
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        assert!(after < LEASE + LATE, "{after:?} after {polls} polls");
        assert!(pttl(&server, KEY) > 0);
        let seen = *answer.seen().expect("seen");
        stages.push((runs.count(), seen.is_replayed(), seen.attempt()));
        if let Some(ended) = ended {
            assert_eq!((runs.count(), *answer, *ended.expect("executed")), (1, 1, 1));
            break;
        }
    }
    // Times tell apart where the polls fell: never claimed, released, taken over, replayed.
    assert!(stages.iter().any(|stage| matches!(stage, (1, false, 1 | 2))), "dropped before its body: {stages:?}");
    assert!(stages.contains(&(2, false, 2)), "dropped in its body: {stages:?}");
    assert!(stages.contains(&(1, true, 1)), "completed: {stages:?}");
}

/// Case O-41.
#[tokio::test(start_paused = true)]
async fn the_gauge_of_running_bodies_is_zero_when_all_have_ended_however_they_did() {
    const CALLS: u32 = 1000;
    let recorder = DebuggingRecorder::new();
    let mut in_flight = InFlight::of(&recorder);
    let _guard = ::metrics::set_default_local_recorder(&recorder);
    let engine = Engine::builder(MemoryStore::new()).policy(short()).build().unwrap();
    let mut random = rand::rngs::StdRng::seed_from_u64(41);

    let (mut ended, mut running) = (0, tokio::task::JoinSet::new());
    for number in 0..CALLS {
        let call = engine.operation("job").key(&number).fingerprint(&());
        let steps = random.random_range(0..5);
        let call = call.run(async move |_| {
            for _ in 0..steps {
                tokio::time::sleep(Duration::from_millis(7)).await;
            }
            match number % 4 {
                0 => Ok(number),
                1 => Err(Box::<dyn std::error::Error + Send + Sync>::from("failed")),
                2 => std::panic::resume_unwind(Box::new("boom")),
                _ => std::future::pending().await,
            }
        });
        let polls = if number % 4 == 3 { random.random_range(1..8) } else { u32::MAX };
        // A body that is never done is dropped, at the latest when its call has been polled often enough.
        running.spawn(async move {
            let call = dropped_after(polls, call);
            tokio::time::timeout(LEASE, call).await.ok().flatten().is_some()
        });
        tokio::time::advance(Duration::from_millis(1)).await;
        in_flight.look();
    }
    while let Some(call) = running.join_next().await {
        ended += u64::from(call.is_ok_and(|ended| ended));
        in_flight.look();
    }
    tokio::time::sleep(LEASE * 2).await;
    in_flight.look();
    assert!(in_flight.now.abs() < 0.5, "{}", in_flight.now);
    assert_eq!((ended, in_flight.outcomes), (500, u64::from(CALLS)), "half of all ended with a value or an error");
}

//! What a recorder of metrics sees of calls.

#[macro_use]
#[path = "support/watched.rs"]
mod watched;
#[path = "support/measured.rs"]
mod measured;
#[path = "support/outcomes.rs"]
mod outcomes;

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use idem_core::metrics::{
    ALL, BODY_SECONDS, CALLS, DUPLICATE_AGE_SECONDS, IN_FLIGHT, KEEPER_LAG_SECONDS, LEASE_LEFT_SECONDS, MetricKind,
    OLDEST_UNSETTLED_SECONDS, RECORDS, RESULT_BYTES, STORE_ERRORS, STORE_SECONDS, WAIT_SECONDS,
};
use idem_core::store::InspectReply;
use idem_core::{Engine, Error, Key, OnConflict, Operation};
use measured::Measured;
use metrics_util::debugging::DebuggingRecorder;
use outcomes::{LEASE, OPERATION, POLICY, play};
use tokio::time::{sleep, timeout};
use watched::Watched;

async fn takes(engine: &Engine, key: u32, time: Duration) -> Result<u32, Error> {
    let run = engine.operation(OPERATION).key(&key).fingerprint(&()).run(async |attempt| {
        sleep(time).await;
        Ok(attempt.number())
    });
    run.await
}

#[tokio::test(start_paused = true)]
async fn each_call_has_one_outcome_and_what_belongs_to_it_is_counted() {
    for (scenario, outcomes, counters) in outcomes::ALL {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        let _recording = metrics::set_default_local_recorder(&recorder);
        play(scenario).await;
        let measured = Measured::take(&snapshotter);

        for outcome in *outcomes {
            let ended_so = measured.count(CALLS, &[("operation", OPERATION), ("outcome", outcome)]);
            let expected = outcomes.iter().filter(|other| *other == outcome).count();
            assert_eq!(usize::try_from(ended_so), Ok(expected), "{scenario}: {outcome}");
        }
        assert_eq!(usize::try_from(measured.count(CALLS, &[])), Ok(outcomes.len()), "{scenario}");

        let all = ALL.iter().filter(|metric| metric.kind == MetricKind::Counter && metric.labels[0] == "operation");
        for counter in all.map(|metric| metric.name).filter(|name| *name != CALLS) {
            let expected = counters.iter().find(|(name, _)| *name == counter).map_or(0, |(_, times)| *times);
            let counted = measured.count(counter, &[("operation", OPERATION)]);
            // One that is tried again and again, as a renewal, fails as often.
            let counted = if counter == STORE_ERRORS { counted.min(1) } else { counted };
            assert_eq!(counted, expected, "{scenario}: {counter}");
        }
        assert!(measured.gauge(IN_FLIGHT, &[]).unwrap_or_default().abs() < 0.5, "{scenario}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_alerts_look_at_counts_from_zero_from_the_first_call() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _recording = metrics::set_default_local_recorder(&recorder);
    play("executed").await;
    let measured = Measured::take(&snapshotter);
    for metric in ALL.iter().filter(|metric| metric.labels == ["operation"] && metric.name != OLDEST_UNSETTLED_SECONDS)
    {
        assert!(measured.has(metric.name, &[("operation", OPERATION)]), "{}", metric.name);
    }
    for verb in ["claim", "renew", "complete", "release"] {
        for kind in ["unavailable", "ambiguous"] {
            assert!(measured.has(STORE_ERRORS, &[("operation", OPERATION), ("op", verb), ("kind", kind)]));
        }
    }
    for outcome in ["executed", "failed", "replayed", "conflict"] {
        assert!(measured.has(CALLS, &[("operation", OPERATION), ("outcome", outcome)]));
    }
}

#[tokio::test(start_paused = true)]
async fn times_and_sizes_are_measured() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let engine = Watched::new().engine(POLICY.on_conflict(OnConflict::Wait(LEASE)));
    let body = Duration::from_millis(400);
    let (first, second) = tokio::join!(takes(&engine, 1, body), takes(&engine, 1, body));
    assert_eq!((first.unwrap(), second.unwrap()), (1, 1));

    let measured = Measured::take(&snapshotter);
    let close = |name, expected: Duration, by: Duration| {
        let values = measured.values(name, &[("operation", OPERATION)]);
        let [value] = values[..] else { panic!("{name}: {values:?}") };
        assert!((value - expected.as_secs_f64()).abs() <= by.as_secs_f64(), "{name}: {value}");
    };
    let millis = Duration::from_millis;
    close(BODY_SECONDS, body, millis(2));
    // It counts on a hundredth and 2 ms less than it was granted.
    close(LEASE_LEFT_SECONDS, (LEASE * 99 / 100).saturating_sub(body + millis(2)), millis(2));
    close(WAIT_SECONDS, body, millis(250));
    // By the wall clock, which does not stand still.
    close(DUPLICATE_AGE_SECONDS, Duration::ZERO, Duration::from_secs(60));
    assert_eq!(measured.values(RESULT_BYTES, &[]), [1.0]);
    assert_eq!(measured.values(STORE_SECONDS, &[("op", "complete")]).len(), 1);
    assert!(measured.values(STORE_SECONDS, &[("op", "claim")]).len() > 2);
}

#[tokio::test(start_paused = true)]
async fn the_keeper_tells_how_late_it_looks() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let engine = Watched::new().engine(POLICY);
    let blocks = engine.operation(OPERATION).key("k").fingerprint(&()).run(async |_| {
        sleep(LEASE / 10).await;
        // As a body that blocks its thread: time goes by, and the keeper is not polled.
        tokio::time::advance(LEASE).await;
        Ok::<_, Error>(())
    });
    blocks.await.expect("nobody followed");
    sleep(LEASE).await;
    let lag = Measured::take(&snapshotter).gauge(KEEPER_LAG_SECONDS, &[]).expect("it looked");
    assert!(lag > 0.0 && lag < LEASE.as_secs_f64(), "{lag}");
}

/// Case O-41.
#[tokio::test(start_paused = true)]
async fn the_gauge_returns_to_zero_and_outcomes_add_up_however_calls_end() {
    const CALLS_OF_A_KIND: u64 = 250;
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let engine = Watched::new().engine(POLICY);
    let call = |key: u64| engine.operation(OPERATION).key(&key).fingerprint(&());
    for key in (0..4 * CALLS_OF_A_KIND).step_by(4) {
        call(key).run(async |_| Ok::<_, Error>(())).await.expect("it finishes");
        call(key + 1)
            .run(async |_| Err::<(), Box<dyn std::error::Error>>("failed".into()))
            .await
            .expect_err("it fails");
        let panics = call(key + 2).run(async |_| -> Result<(), Error> { panic!("on purpose") });
        AssertUnwindSafe(panics).catch_unwind().await.expect_err("it panics");
        let dropped = call(key + 3).run(async |_| {
            sleep(LEASE).await;
            Ok::<_, Error>(())
        });
        timeout(Duration::from_micros(key), dropped).await.expect_err("it is dropped");
    }
    sleep(LEASE * 2).await;
    let measured = Measured::take(&snapshotter);
    for outcome in ["executed", "failed", "panicked", "dropped"] {
        assert_eq!(measured.count(CALLS, &[("outcome", outcome)]), CALLS_OF_A_KIND, "{outcome}");
    }
    assert_eq!(measured.count(CALLS, &[]), 4 * CALLS_OF_A_KIND);
    assert!(measured.gauge(IN_FLIGHT, &[("operation", OPERATION)]).expect("it was used").abs() < 0.5);
}

#[tokio::test(start_paused = true)]
async fn keys_and_tenants_make_no_series() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let engine = Engine::in_memory();
    let series = async |calls: u32| {
        for _ in 0..calls {
            let (key, tenant) = (rand::random::<u64>(), rand::random::<u64>());
            let call = engine.operation(OPERATION).key(&key).scope(&tenant).fingerprint(&key);
            call.run(async |_| Ok::<_, Error>(())).await.expect("it runs");
        }
        Measured::take(&snapshotter).0.into_keys().collect::<Vec<_>>()
    };
    let first = series(1).await;
    assert_eq!(series(10_000).await, first);
}

#[tokio::test(start_paused = true)]
async fn a_recorder_that_comes_later_gets_what_happens_from_then_on() {
    let engine = Watched::new().engine(POLICY);
    takes(&engine, 1, Duration::ZERO).await.expect("without any recorder");
    let (first, second) = (DebuggingRecorder::new(), DebuggingRecorder::new());
    for recorder in [&first, &second, &first] {
        let _recording = metrics::set_default_local_recorder(recorder);
        takes(&engine, 1, Duration::ZERO).await.expect("a replay");
    }
    let counts = [&first, &second].map(|recorder| Measured::take(&recorder.snapshotter()).count(CALLS, &[]));
    assert_eq!(counts, [2, 1]);
}

#[tokio::test(start_paused = true)]
async fn the_sampler_counts_what_is_in_the_store_and_forgets_what_is_gone() {
    const INTERVAL: Duration = Duration::from_secs(60);
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let engine = Watched::new().engine(POLICY);
    let look = || Measured::take(&snapshotter);
    let records =
        |measured: &Measured, standing| measured.gauge(RECORDS, &[("operation", OPERATION), ("standing", standing)]);

    takes(&engine, 1, Duration::ZERO).await.expect("it completes");
    timeout(LEASE / 2, takes(&engine, 2, LEASE)).await.expect_err("it is dropped");
    let sampler = engine.sample(INTERVAL);
    sleep(INTERVAL + LEASE).await;
    let measured = look();
    assert_eq!(records(&measured, "completed"), Some(1.0));
    assert_eq!(records(&measured, "abandoned"), Some(1.0));
    assert_eq!(records(&measured, "uncertain"), Some(0.0));
    // By the wall clock, which moved by less than these tests take.
    let oldest = |measured: &Measured| measured.gauge(OLDEST_UNSETTLED_SECONDS, &[("operation", OPERATION)]);
    assert!(oldest(&measured).expect("it is told") > 0.0);

    let dropped = Operation::new(OPERATION, None, &Key::of(&2_u32).expect("a key"));
    let InspectReply::Known(known) = engine.inspect(&dropped).await.expect("an answer") else { panic!("no record") };
    engine.forget(&dropped, known.fence, false).await.expect("an answer");
    look();
    sleep(INTERVAL).await;
    let measured = look();
    assert_eq!((records(&measured, "abandoned"), records(&measured, "released")), (Some(0.0), Some(1.0)));
    assert_eq!(oldest(&measured), Some(0.0));

    // A crash is remembered for a week.
    sleep(Duration::from_secs(9 * 24 * 3600)).await;
    let measured = look();
    assert_eq!((records(&measured, "completed"), records(&measured, "released")), (Some(0.0), Some(0.0)));

    drop(sampler);
    sleep(Duration::from_secs(1)).await;
    look();
    sleep(INTERVAL * 2).await;
    assert!(look().values(STORE_SECONDS, &[("op", "survey")]).is_empty());
}

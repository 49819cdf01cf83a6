//! What a policy lets a call do about a conflict, an outage, or a result that cannot be recorded; and how an engine closes.

#[path = "support/measured.rs"]
mod measured;
#[path = "support/watched.rs"]
mod watched;

use std::time::Duration;

use futures_util::future::join_all;
use idem_core::metrics::{CONFLICTS, UNPROTECTED, UNRECORDED};
use idem_core::{Call, Engine, Error, ErrorKind, OnConflict, OnOutage, OnUnrecorded, Outcome, Policy};
use measured::Measured;
use metrics_util::debugging::DebuggingRecorder;
use tokio::time::{Instant, sleep, timeout};
use watched::{Trouble, Watched, trouble};

const LEASE: Duration = Duration::from_secs(3);
const POLICY: Policy = Policy::new().lease(LEASE).valid();
const WAITING: Policy = POLICY.on_conflict(OnConflict::Wait(Duration::from_secs(10)));

fn job(engine: &Engine) -> Call {
    engine.operation("job").key("k").fingerprint(&())
}

async fn takes(call: Call, busy: Duration) -> Result<u32, Error> {
    let run = call.run(async |attempt| {
        sleep(busy).await;
        Ok(attempt.number())
    });
    run.await
}

#[tokio::test(start_paused = true)]
async fn a_waiting_call_is_answered_from_the_others_result() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let engine = Watched::new().engine(WAITING);
    let calls = join_all((0..20).map(|_| takes(job(&engine), Duration::from_secs(2))));
    assert!(calls.await.into_iter().all(|answer| answer.expect("answered") == 1));
    assert_eq!(Measured::take(&snapshotter).count(CONFLICTS, &[]), 0);
}

#[tokio::test(start_paused = true)]
async fn a_waiting_call_takes_over_when_the_others_lease_ends() {
    let engine = Watched::new().engine(WAITING);
    let began = Instant::now();
    assert!(timeout(Duration::from_millis(10), takes(job(&engine), LEASE)).await.is_err());
    assert_eq!(takes(job(&engine), Duration::ZERO).await.expect("its turn"), 2);
    assert!((LEASE..LEASE + Duration::from_millis(60)).contains(&began.elapsed()), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_waiting_call_ends_as_a_conflict_at_its_limit() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let engine = Watched::new().engine(WAITING);
    let holder = takes(job(&engine), Duration::from_secs(60));
    let waiter = async {
        sleep(Duration::from_secs(1)).await;
        let began = Instant::now();
        let error = takes(job(&engine), Duration::ZERO).await.expect_err("refused");
        (error.kind(), error.retry_after().is_some(), began.elapsed())
    };
    let (held, refused) = tokio::join!(holder, waiter);
    let (kind, says_when, after) = refused;
    held.expect("it ends");
    assert_eq!((kind, says_when), (ErrorKind::InFlight, true));
    assert!((Duration::from_secs(10)..Duration::from_millis(10_100)).contains(&after), "{after:?}");
    assert_eq!(Measured::take(&snapshotter).count(CONFLICTS, &[]), 1);
}

#[tokio::test(start_paused = true)]
async fn without_a_store_the_body_runs_only_if_the_policy_says_so() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let store = Watched::new();
    for (policy, runs) in [(POLICY, false), (POLICY.on_outage(OnOutage::RunUnprotected), true)] {
        trouble(&store.0.claims, &[Trouble::Refused]);
        let engine = store.engine(policy);
        let call = job(&engine).run(async |attempt| {
            assert!(!attempt.is_protected() && attempt.number() == 0 && attempt.remaining().is_zero());
            Ok::<Outcome<u32>, Error>(5.into())
        });
        match call.await {
            Ok(ran) => {
                assert!(runs && *ran == 5);
                assert!(!ran.seen().expect("it ended").is_recorded());
            }
            Err(error) => {
                assert!(!runs && !error.may_have_run(), "{error}");
                assert_eq!(error.status(), 503);
            }
        }
    }
    assert_eq!(Measured::take(&snapshotter).count(UNPROTECTED, &[]), 1);
    // Nothing was kept of it, and nobody was kept out.
    assert_eq!(takes(job(&store.engine(POLICY)), Duration::ZERO).await.expect("it runs"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_recorded_is_returned_or_carried_by_an_error() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let outcome = async |policy: Policy| {
        let store = Watched::new();
        trouble(&store.0.completions, &[Trouble::Refused; 400]);
        let engine = store.engine(policy);
        job(&engine).run(async |_| Ok::<Outcome<u32>, Error>(5.into())).await
    };
    let returned = outcome(POLICY).await.expect("the value");
    assert!(!returned.seen().expect("it ended").is_recorded());
    let error = outcome(POLICY.on_unrecorded(OnUnrecorded::Fail)).await.expect_err("the policy wants one");
    assert_eq!((error.kind(), error.status(), error.is_retryable()), (ErrorKind::Unrecorded, 500, false));
    assert!(error.may_have_run());
    assert_eq!((error.value::<u32>(), error.value::<String>()), (Some(5), None));
    assert!(!format!("{error:?} {error}").contains('5'), "{error:?}");
    assert_eq!(Measured::take(&snapshotter).count(UNRECORDED, &[]), 2);
}

#[tokio::test(start_paused = true)]
async fn a_closed_engine_lets_running_calls_finish_and_begins_no_other() {
    let store = Watched::new();
    let engine = store.engine(WAITING);
    let running = takes(job(&engine), Duration::from_secs(2));
    let closing = async {
        sleep(Duration::from_secs(1)).await;
        engine.shutdown(Duration::from_secs(10)).await
    };
    let waiting = async {
        sleep(Duration::from_millis(500)).await;
        takes(job(&engine), Duration::ZERO).await.expect_err("closed").kind()
    };
    let began = Instant::now();
    let (ran, left, waited) = tokio::join!(running, closing, waiting);
    assert_eq!((ran.expect("it finishes"), left, waited), (1, 0, ErrorKind::ShutDown));
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    let refused = takes(job(&engine), Duration::ZERO).await.expect_err("closed");
    assert!(refused.is_retryable() && !refused.may_have_run() && refused.status() == 503);
    // Another engine on the same store, the next process, replays.
    assert_eq!(takes(job(&store.engine(POLICY)), Duration::ZERO).await.expect("replayed"), 1);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_finish_in_time_is_counted_and_recorded_as_nothing() {
    let store = Watched::new();
    let engine = store.engine(POLICY);
    let began = Instant::now();
    let running = timeout(Duration::from_secs(5), takes(job(&engine), Duration::from_secs(60)));
    let closing = async {
        sleep(Duration::from_secs(1)).await;
        engine.shutdown(Duration::from_secs(3)).await
    };
    let (ran, left) = tokio::join!(running, closing);
    assert!(ran.is_err());
    assert_eq!(left, 1);
    let next = store.engine(POLICY);
    assert_eq!(takes(job(&next), Duration::ZERO).await.expect_err("in flight").kind(), ErrorKind::InFlight);
    sleep(LEASE).await;
    assert_eq!(takes(job(&next), Duration::ZERO).await.expect("a takeover"), 2);
    assert!(began.elapsed() < LEASE * 3);
}

#[tokio::test(start_paused = true)]
async fn a_closing_engine_still_sends_what_ended_calls_left() {
    let store = Watched::new();
    let engine = store.engine(POLICY);
    trouble(&store.0.releases, &[Trouble::Refused; 3]);
    let failed = job(&engine).run(async |_| Err::<u32, Error>(refusal().await)).await;
    failed.expect_err("the body's own");
    assert_eq!(engine.shutdown(LEASE).await, 0);
    assert_eq!(takes(job(&store.engine(POLICY)), Duration::ZERO).await.expect("released"), 2);
}

/// Some error of idem's own.
async fn refusal() -> Error {
    let engine = Engine::in_memory();
    let call = engine.operation("x").key(&None::<u8>).fingerprint(&());
    call.run(async |_| Ok::<u32, Error>(1)).await.expect_err("no key")
}

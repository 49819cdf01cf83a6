//! When the keeper renews and releases, by a clock that only moves when nothing else does, on a store that can be troubled.

#[path = "support/watched.rs"]
mod watched;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use idem_core::metrics::LEASES_LOST;
use idem_core::{Call, Engine, Error, Loss, Outcome, Policy};
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};
use watched::{Trouble, Watched, trouble};

const LEASE: Duration = Duration::from_secs(3);
const PERIOD: Duration = Duration::from_secs(1);
/// How long an owner counts on its lease: a hundredth and two milliseconds less.
const SURE: Duration = Duration::from_millis(2968);
/// What is due within this much is done together.
const TOGETHER: Duration = Duration::from_millis(47);

const POLICY: Policy = Policy::new().lease(LEASE).valid();

fn job(engine: &Engine) -> Call {
    engine.operation("job").key("k").fingerprint(&())
}

/// A call whose body takes `busy` and says what it was told of a loss meanwhile.
async fn busy(call: Call, busy: Duration) -> Result<Option<Loss>, Error> {
    let told = call
        .run(async |attempt| Ok::<_, Error>(timeout(busy, attempt.lost()).await.ok().map(|loss| loss == Loss::Lost)));
    Ok(told.await?.map(|lost| if lost { Loss::Lost } else { Loss::Doubtful }))
}

/// A call that runs now: its attempt's number, and whether it took over.
async fn runs_now(engine: &Engine) -> (u32, bool) {
    let call = job(engine).run(async |attempt| Ok::<_, Error>((attempt.number(), attempt.is_takeover())));
    call.await.expect("it runs")
}

#[tokio::test(start_paused = true)]
async fn a_claim_is_renewed_each_third_of_its_lease_and_no_more_after_its_end() {
    let store = Watched::new();
    let engine = store.engine(POLICY);
    assert_eq!(busy(job(&engine), LEASE * 10).await.unwrap(), None);
    let renewed = store.renewed();
    assert!((PERIOD / 2..=PERIOD + TOGETHER).contains(&renewed[0]), "{renewed:?}");
    let gaps = renewed.windows(2).map(|pair| pair[1].abs_diff(pair[0]));
    assert!(gaps.clone().all(|gap| (PERIOD..=PERIOD + TOGETHER).contains(&gap)), "{renewed:?}");
    assert!(gaps.count() >= 28);
    sleep(LEASE * 10).await;
    assert_eq!(store.renewed(), renewed);
}

#[tokio::test(start_paused = true)]
async fn claims_made_together_are_renewed_apart() {
    let store = Watched::new();
    let engine = store.engine(POLICY);
    let calls =
        (0..300).map(|number: u32| busy(engine.operation("job").key(&number).fingerprint(&()), PERIOD * 11 / 10));
    assert!(join_all(calls).await.into_iter().all(|loss| loss.unwrap().is_none()));
    let renewed = store.renewed();
    assert_eq!(renewed.len(), 300);
    for at in &renewed {
        let near = renewed.iter().filter(|other| other.abs_diff(*at) <= TOGETHER).count();
        assert!(near < 150, "{near} of 300 near {at:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_short_lease_among_the_longest_is_renewed_in_time() {
    let store = Watched::new();
    let engine = store.engine(POLICY);
    let longest = POLICY.lease(Policy::MAX_DURATION).retention(Policy::MAX_DURATION);
    let shortest = POLICY.lease(Policy::MIN_LEASE);
    let call = |key, policy| engine.operation("job").policy(policy).key(key).fingerprint(&());
    let short = async {
        sleep(PERIOD).await;
        busy(call("short", shortest), Policy::MIN_LEASE * 100).await
    };
    let (long, short) = tokio::join!(busy(call("long", longest), LEASE * 10), short);
    assert_eq!((long.unwrap(), short.unwrap()), (None, None));
    assert!(store.renewed().len() > 250);
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_fails_is_tried_again_while_the_lease_lasts() {
    for (troubles, told) in [
        (vec![Trouble::Refused; 10], None),
        (vec![Trouble::Unheard], None),
        (vec![Trouble::AnsweredLate(LEASE)], None),
        (vec![Trouble::Unheard; 3], Some(Loss::Doubtful)),
        (vec![Trouble::Refused; 30], Some(Loss::Doubtful)),
    ] {
        let store = Watched::new();
        let engine = store.engine(POLICY);
        trouble(&store.0.renewals, &troubles);
        let began = Instant::now();
        assert_eq!(busy(job(&engine), LEASE * 2).await.unwrap(), told, "{troubles:?}");
        if told.is_some() {
            assert!((SURE..=SURE + TOGETHER).contains(&began.elapsed()), "{:?}", began.elapsed());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_is_renewed_for_max_run_and_then_doubtful() {
    let store = Watched::new();
    let engine = store.engine(POLICY);
    let max_run = LEASE * 4;
    let call = engine.operation("job").policy(POLICY.max_run(max_run)).key("k").fingerprint(&());
    let began = Instant::now();
    assert_eq!(busy(call, LEASE * 10).await.unwrap(), Some(Loss::Doubtful));
    let last = *store.renewed().last().unwrap();
    assert!(last < max_run && last + PERIOD + TOGETHER >= max_run, "{last:?}");
    assert!(began.elapsed() < max_run + LEASE, "{:?}", began.elapsed());
}

/// Counts the leases that were lost.
#[derive(Default)]
struct LeasesLost(Arc<AtomicU64>);

impl Recorder for LeasesLost {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        if key.name() == LEASES_LOST { Counter::from_arc(Arc::clone(&self.0)) } else { Counter::noop() }
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

/// Renewals travel apart from completions, which may overtake them.
#[tokio::test(start_paused = true)]
async fn a_renewal_that_meets_its_own_calls_end_is_no_loss() {
    let recorder = LeasesLost::default();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let store = Watched::new();
    let engine = store.engine(POLICY);
    for ends in [Ok(()), Err(())] {
        trouble(&store.0.renewals, &[Trouble::DoneLate(PERIOD / 2)]);
        let call = engine.operation("job").key(&ends.is_ok()).fingerprint(&());
        let ended = call.run(async |_| -> Result<(), Box<dyn std::error::Error>> {
            sleep(PERIOD + TOGETHER).await;
            ends.map_err(|()| "failed".into())
        });
        assert_eq!(ended.await.is_ok(), ends.is_ok());
        sleep(LEASE * 2).await;
    }
    assert_eq!(store.renewed().len(), 2);
    assert_eq!(recorder.0.load(Ordering::SeqCst), 0);
}

/// Scenario F5: the release of a claim that was answered late comes before the next claim, however long it takes.
#[tokio::test(start_paused = true)]
async fn a_claim_that_was_answered_late_is_released_before_it_is_made_anew() {
    for late in [LEASE * 8 / 10, LEASE * 12 / 10] {
        let store = Watched::new();
        trouble(&store.0.claims, &[Trouble::AnsweredLate(late)]);
        trouble(&store.0.releases, &[Trouble::DoneLate(LEASE / 10)]);
        assert_eq!(runs_now(&store.engine(POLICY)).await, (2, false), "{late:?}");
    }
}

/// Scenario F5, where the caller has gone meanwhile.
#[tokio::test(start_paused = true)]
async fn a_call_dropped_while_it_gives_up_a_late_claim_frees_its_key() {
    let store = Watched::new();
    let engine = store.engine(POLICY);
    trouble(&store.0.claims, &[Trouble::AnsweredLate(LEASE * 8 / 10)]);
    trouble(&store.0.releases, &[Trouble::Unheard]);
    timeout(LEASE * 9 / 10, runs_now(&engine)).await.expect_err("its release is not heard");
    sleep(Duration::from_millis(1)).await;
    assert_eq!(runs_now(&engine).await, (2, false));
}

/// Scenario F7.
#[tokio::test(start_paused = true)]
async fn a_call_dropped_before_its_body_is_released_again_and_again_until_the_store_answers() {
    let store = Watched::new();
    let engine = store.engine(POLICY);
    trouble(&store.0.claims, &[Trouble::AnsweredLate(LEASE)]);
    trouble(&store.0.releases, &[Trouble::Refused; 3]);
    timeout(PERIOD, runs_now(&engine)).await.expect_err("no answer yet");
    sleep(PERIOD / 10).await;
    assert_eq!(runs_now(&engine).await, (2, false));
}

/// A body may end with next to nothing left of its lease, where it was not renewed.
#[tokio::test(start_paused = true)]
async fn a_completion_at_the_very_end_of_a_lease_is_recorded_by_a_store_that_answers() {
    for left in [0, 1, 4, 20, 100].map(Duration::from_millis) {
        let store = Watched::new();
        let engine = store.engine(POLICY);
        let slow = Duration::from_millis(30);
        for step in [Trouble::AnsweredLate(slow), Trouble::DoneLate(slow)] {
            trouble(&store.0.completions, &[step; 9]);
            let key = format!("{step:?}");
            let call = || engine.operation("job").policy(POLICY.max_run(PERIOD / 9)).key(&key).fingerprint(&());
            let ended = call().run(async |attempt| {
                sleep(attempt.remaining().saturating_sub(left)).await;
                Ok::<Outcome<u32>, Error>(1.into())
            });
            assert!(ended.await.unwrap().seen().unwrap().is_recorded(), "{left:?} {step:?}");
            assert_eq!(call().run(async |_| Ok::<u32, Error>(2)).await.unwrap(), 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_keeper_ends_with_its_engine() {
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let engine = Watched::new().engine(POLICY);
    assert_eq!(tasks(), 0, "an engine without a claim has none");
    let other = engine.clone();
    tokio::join!(busy(job(&engine), LEASE), busy(engine.operation("other").key("k").fingerprint(&()), LEASE))
        .0
        .unwrap();
    drop(engine);
    sleep(LEASE).await;
    assert_eq!(tasks(), 1, "one for all clones");
    drop(other);
    tokio::task::yield_now().await;
    assert_eq!(tasks(), 0);
}

//! Unknown outcomes, and what ends them, by a clock that only moves when nothing else does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use idem_core::store::{ForgetReply, InspectReply, OnCrash, SettleReply};
use idem_core::{Call, Engine, Error, ErrorKind, Fence, Key, Operation, Policy, Standing};
use serde::{Deserialize, Serialize};
use tokio::time::{sleep, timeout};

const LEASE: Duration = Duration::from_secs(3);
const POLICY: Policy = Policy::new().lease(LEASE).retention(Duration::from_secs(3600)).valid();
const REFUSING: Policy = POLICY.on_crash(OnCrash::Refuse);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
enum PayError {
    #[error("timeout")]
    Timeout,
    #[error("declined")]
    Declined(u32),
    #[error("malformed")]
    Malformed,
    #[error("busy")]
    Busy,
    #[error(transparent)]
    #[serde(skip)]
    Idem(Same),
}

/// An idem error that is equal to one of its kind.
#[derive(Debug, Clone, thiserror::Error)]
#[error(transparent)]
struct Same(Error);

impl PartialEq for Same {
    fn eq(&self, other: &Self) -> bool {
        self.0.kind() == other.0.kind()
    }
}

impl From<Error> for PayError {
    fn from(error: Error) -> Self {
        Self::Idem(Same(error))
    }
}

impl PayError {
    fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout)
    }

    fn is_final(&self) -> bool {
        matches!(self, Self::Declined(_) | Self::Idem(_) | Self::Timeout)
    }

    fn is_malformed(&self) -> bool {
        matches!(self, Self::Malformed)
    }

    fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Idem(error) => Some(error.0.kind()),
            _ => None,
        }
    }
}

fn engine(policy: Policy) -> Engine {
    Engine::builder(idem_core::MemoryStore::new()).policy(policy).build().expect("a valid policy")
}

fn pay(engine: &Engine) -> Call {
    engine.operation("pay").key("k").fingerprint(&())
}

fn identity() -> Operation {
    Operation::new("pay", None, &Key::of("k").expect("a key"))
}

/// A call whose body began and was never heard of again.
async fn crashes(call: Call) {
    let body = call.run(async |_| std::future::pending::<Result<u32, Error>>().await);
    assert!(timeout(Duration::from_millis(10), body).await.is_err(), "it hangs");
    sleep(LEASE).await;
}

/// A call that would end with its attempt's number, and whether that may repeat an effect.
async fn attempt(call: Call) -> Result<(u32, bool), ErrorKind> {
    let ran = call.run(async |attempt| Ok::<_, Error>((attempt.number(), attempt.is_takeover()))).await;
    ran.map_err(|error| error.kind())
}

async fn standing(engine: &Engine) -> (Standing, Fence) {
    match engine.inspect(&identity()).await.expect("an answer") {
        InspectReply::Known(known) => (known.standing, known.fence),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn under_refuse_nothing_runs_after_a_crash_until_it_is_settled() {
    let engine = engine(REFUSING);
    crashes(pay(&engine)).await;
    let (crashed, fence) = standing(&engine).await;
    assert_eq!(crashed, Standing::Abandoned);
    let error = pay(&engine).run(async |_| Ok::<u32, Error>(1)).await.expect_err("refused");
    assert_eq!((error.kind(), error.fence()), (ErrorKind::Uncertain, Some(fence)));
    assert!(error.may_have_run() && !error.is_retryable());
    assert_eq!(error.status(), 409);
    // Beyond any retention, and for whoever comes, whatever its own policy.
    sleep(Duration::from_secs(6 * 86_400)).await;
    let careless = engine.operation("pay").policy(POLICY).key("k").fingerprint(&());
    assert_eq!(attempt(careless).await, Err(ErrorKind::Uncertain));
    assert_eq!(standing(&engine).await, (Standing::Uncertain, fence));

    let unsettled = engine.unsettled("pay", Duration::ZERO).await.expect("an answer");
    assert_eq!(unsettled.len(), 1);
    let found = Operation::from_text(&unsettled[0].text).expect("an identity");
    assert_eq!(found, identity());
    assert!(engine.unsettled("pa", Duration::ZERO).await.expect("an answer").is_empty());
    assert_eq!(engine.settle(&found, Fence::new(7)).completed(&9_u32).await.expect("an answer"), SettleReply::Changed);
    for _ in 0..2 {
        assert_eq!(engine.settle(&found, fence).completed(&9_u32).await.expect("an answer"), SettleReply::Settled);
    }
    assert_eq!(pay(&engine).run(async |_| Ok::<u32, Error>(1)).await.expect("replayed"), 9);
    assert_eq!(engine.settle(&found, fence).run_again().await.expect("an answer"), SettleReply::Changed);
}

#[tokio::test(start_paused = true)]
async fn a_person_lets_it_run_again_and_the_next_attempt_knows() {
    let engine = engine(REFUSING);
    crashes(pay(&engine)).await;
    let (_, fence) = standing(&engine).await;
    // Nobody has met it yet.
    assert_eq!(engine.settle(&identity(), fence).run_again().await.expect("an answer"), SettleReply::Settled);
    assert_eq!(attempt(pay(&engine)).await, Ok((2, true)));
}

#[tokio::test(start_paused = true)]
async fn a_late_owner_settles_its_own_uncertain_record() {
    for outcome in [Ok(5_u32), Err(PayError::Busy)] {
        let engine = engine(REFUSING.max_run(Duration::from_millis(1)));
        let late = pay(&engine).run(async |_| {
            sleep(LEASE * 4).await;
            outcome.clone()
        });
        let met = async {
            sleep(LEASE * 2).await;
            attempt(pay(&engine)).await
        };
        let (late, met) = tokio::join!(late, met);
        assert_eq!(met, Err(ErrorKind::Uncertain));
        assert_eq!(late, outcome);
        let next = pay(&engine).run(async |_| Ok::<u32, Error>(6)).await.expect("settled");
        assert_eq!(next, outcome.unwrap_or(6));
    }
}

#[tokio::test(start_paused = true)]
async fn recover_asks_before_anything_runs() {
    let engine = engine(POLICY);
    let asked = AtomicU32::new(0);
    let call = async |answer: Result<Option<u32>, PayError>| {
        let ask = async || {
            asked.fetch_add(1, Ordering::SeqCst);
            answer
        };
        pay(&engine).recover(ask).run(async |attempt| Ok::<_, PayError>(100 + attempt.number())).await
    };
    crashes(pay(&engine)).await;
    // An error of the asking leaves all as it was.
    assert_eq!(call(Err(PayError::Busy)).await, Err(PayError::Busy));
    assert_eq!(standing(&engine).await.0, Standing::Uncertain);
    assert_eq!(attempt(pay(&engine)).await, Err(ErrorKind::Uncertain));
    // It had its effect.
    assert_eq!(call(Ok(Some(7))).await, Ok(7));
    assert_eq!(call(Ok(None)).await, Ok(7));
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn after_nothing_was_found_the_body_runs_and_is_told() {
    let engine = engine(POLICY);
    crashes(pay(&engine)).await;
    let call = pay(&engine).recover(async || Ok(None));
    let ran = call.run(async |attempt| Ok::<_, Error>((attempt.number(), attempt.is_takeover()))).await;
    assert_eq!(ran.expect("it runs"), (2, true));
}

#[tokio::test(start_paused = true)]
async fn doubt_survives_the_crash_of_the_asker() {
    for begun in [false, true] {
        let engine = engine(POLICY);
        crashes(pay(&engine)).await;
        let ask = async || if begun { Ok(None) } else { std::future::pending().await };
        let asker = pay(&engine).recover(ask).run(async |_| std::future::pending::<Result<u32, Error>>().await);
        assert!(timeout(Duration::from_millis(10), asker).await.is_err());
        sleep(LEASE * 2).await;
        // Even to a caller that would run over a crash: this was one who asked, and got no answer.
        assert_eq!(attempt(pay(&engine)).await, Err(ErrorKind::Uncertain));
        let asks = pay(&engine).recover(async || Ok(Some(3)));
        assert_eq!(asks.run(async |_| Ok::<u32, Error>(4)).await.expect("recovered"), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_that_recovers_needs_something_to_ask() {
    let engine = engine(POLICY.on_crash(OnCrash::Recover));
    assert_eq!(attempt(pay(&engine)).await, Err(ErrorKind::Config));
    let asks = pay(&engine).recover(async || Ok(None));
    assert_eq!(asks.run(async |_| Ok::<u32, Error>(4)).await.expect("it runs"), 4);
}

#[tokio::test(start_paused = true)]
async fn errors_are_told_apart() {
    let engine = engine(POLICY);
    let call = async |key: &str, payload: u8, outcome: Result<u32, PayError>| {
        let call = engine.operation("pay").key(key).fingerprint(&payload);
        let judged = call.hold(PayError::is_timeout).keep(PayError::is_final).reject(PayError::is_malformed);
        judged.run(async |_| outcome).await
    };
    let kind = |answer: Result<u32, PayError>| answer.expect_err("an error").kind();

    // Held, though `keep` would take it too: unknown.
    assert_eq!(call("held", 0, Err(PayError::Timeout)).await, Err(PayError::Timeout));
    assert_eq!(kind(call("held", 0, Ok(1)).await), Some(ErrorKind::Uncertain));
    // Kept: final, and replayed without running.
    assert_eq!(call("kept", 0, Err(PayError::Declined(3))).await, Err(PayError::Declined(3)));
    assert_eq!(call("kept", 0, Ok(1)).await, Err(PayError::Declined(3)));
    assert_eq!(kind(call("kept", 1, Ok(1)).await), Some(ErrorKind::Mismatch));
    // Rejected: other arguments may follow, and bind the key anew.
    assert_eq!(call("rejected", 0, Err(PayError::Malformed)).await, Err(PayError::Malformed));
    assert_eq!(call("rejected", 1, Err(PayError::Busy)).await, Err(PayError::Busy));
    assert_eq!(kind(call("rejected", 0, Ok(1)).await), Some(ErrorKind::Mismatch));
    assert_eq!(call("rejected", 1, Ok(1)).await, Ok(1));
    // An error of idem's own, from a nested call, is never kept.
    let nested = async || engine.operation("nested").key(&None::<u8>).fingerprint(&()).run(async |_| Ok(1)).await;
    assert_eq!(kind(call("nested", 0, nested().await).await), Some(ErrorKind::InvalidKey));
    assert_eq!(call("nested", 0, Ok(2)).await, Ok(2));
}

#[tokio::test(start_paused = true)]
async fn a_kept_error_is_undecodable_to_an_operation_that_keeps_none() {
    let engine = engine(POLICY);
    let kept = pay(&engine).keep(PayError::is_final).run(async |_| Err::<u32, _>(PayError::Declined(3))).await;
    assert_eq!(kept, Err(PayError::Declined(3)));
    assert_eq!(attempt(pay(&engine)).await, Err(ErrorKind::Undecodable));
}

#[tokio::test(start_paused = true)]
async fn a_rejection_after_a_crash_opens_nothing() {
    let engine = engine(POLICY);
    crashes(engine.operation("pay").key("k").fingerprint(&0)).await;
    let call = |payload: u8| engine.operation("pay").key("k").fingerprint(&payload).reject(PayError::is_malformed);
    assert_eq!(call(0).run(async |_| Err::<u32, _>(PayError::Malformed)).await, Err(PayError::Malformed));
    let other = call(1).run(async |_| Ok::<u32, PayError>(1)).await.expect_err("bound");
    assert_eq!(other.kind(), Some(ErrorKind::Mismatch));
}

#[tokio::test(start_paused = true)]
async fn attempts_are_exhausted_until_the_limit_is_raised() {
    let limited = |most: u32| POLICY.max_attempts(most.try_into().expect("not zero"));
    let engine = engine(POLICY);
    let call = |most| engine.operation("pay").policy(limited(most)).key("k").fingerprint(&());
    for _ in 0..2 {
        assert_eq!(call(2).run(async |_| Err::<u32, _>(PayError::Busy)).await, Err(PayError::Busy));
    }
    let message = |error: Error| (error.kind(), error.to_string());
    let gave_up = message(call(2).run(async |_| Ok::<u32, Error>(1)).await.expect_err("exhausted"));
    assert_eq!(gave_up, (ErrorKind::Exhausted, "pay: the attempts are exhausted; the last one gave up".to_owned()));
    crashes(call(3)).await;
    let crashed = message(call(3).run(async |_| Ok::<u32, Error>(1)).await.expect_err("exhausted"));
    assert_eq!(crashed.1, "pay: the attempts are exhausted; the outcome of the last one is unknown");
    assert_eq!(attempt(call(4)).await, Ok((4, true)));
}

#[tokio::test(start_paused = true)]
async fn what_is_forgotten_runs_again_and_what_runs_is_not_forgotten() {
    let engine = engine(POLICY);
    assert_eq!(engine.forget(&identity(), Fence::new(1), true).await.expect("an answer"), ForgetReply::Absent);
    assert_eq!(attempt(pay(&engine)).await, Ok((1, false)));
    let (_, fence) = standing(&engine).await;
    assert_eq!(engine.forget(&identity(), Fence::new(1), true).await.expect("an answer"), ForgetReply::Changed);
    assert_eq!(engine.forget(&identity(), fence, false).await.expect("an answer"), ForgetReply::Deleted);
    let running = pay(&engine).run(async |_| {
        let (_, fence) = standing(&engine).await;
        assert_eq!(engine.forget(&identity(), fence, false).await.expect("an answer"), ForgetReply::Live);
        assert_eq!(engine.forget(&identity(), fence, true).await.expect("an answer"), ForgetReply::Released);
        std::future::pending::<Result<u32, Error>>().await
    });
    assert_eq!(running.await.expect_err("it is told").kind(), ErrorKind::LeaseLost);
    assert_eq!(attempt(pay(&engine)).await, Ok((2, true)));
}

#[tokio::test(start_paused = true)]
async fn a_released_attempt_is_remembered_for_as_long_as_the_policy_says() {
    let engine = engine(POLICY.release_retention(Duration::from_secs(60)));
    for (wait, expected) in [(Duration::ZERO, 1), (Duration::from_secs(59), 2), (Duration::from_secs(61), 1)] {
        sleep(wait).await;
        let number = Arc::new(AtomicU32::new(0));
        let call = pay(&engine).run(async |attempt| {
            number.store(attempt.number(), Ordering::SeqCst);
            Err::<u32, _>(PayError::Busy)
        });
        assert_eq!(call.await, Err(PayError::Busy));
        assert_eq!(number.load(Ordering::SeqCst), expected);
    }
}

/// What was asked for while the lease ran out, another one may have asked and acted upon.
#[tokio::test(start_paused = true)]
async fn after_an_ask_that_outlasted_the_lease_the_body_does_not_begin() {
    let engine = engine(POLICY.max_run(Duration::from_millis(1)));
    crashes(pay(&engine)).await;
    let ask = async || {
        sleep(LEASE * 2).await;
        Ok(None)
    };
    let late = pay(&engine).recover(ask).run(async |_| -> Result<u32, Error> { panic!("the body runs") }).await;
    assert_eq!(late.expect_err("too late").kind(), ErrorKind::Uncertain);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(standing(&engine).await.0, Standing::Uncertain);
}

#[tokio::test(start_paused = true)]
async fn a_takeover_is_remembered_for_longer_than_a_failure() {
    let engine = engine(POLICY.release_retention(LEASE * 2));
    crashes(pay(&engine)).await;
    assert_eq!(pay(&engine).run(async |_| Err::<u32, _>(PayError::Busy)).await, Err(PayError::Busy));
    sleep(LEASE * 3).await;
    assert_eq!(attempt(pay(&engine)).await, Ok((3, true)));
}

#[tokio::test(start_paused = true)]
async fn a_key_for_downstream_is_the_same_in_every_attempt_and_for_nothing_else() {
    let engine = engine(POLICY);
    let keys = async |key: &str, scope: &str| {
        let call = engine.operation("pay").key(key).scope(scope).fingerprint(&());
        let mut keys = Vec::new();
        let failed = call.run(async |attempt| {
            keys.extend(["stripe", "mail"].map(|downstream| attempt.downstream_key(downstream)));
            assert_eq!(idem_core::attempt().downstream_key("stripe"), keys[0]);
            Err::<u32, _>(PayError::Busy)
        });
        failed.await.expect_err("the body's own");
        keys
    };
    let first = keys("k", "t").await;
    assert_eq!(keys("k", "t").await, first);
    let others = [keys("k2", "t").await, keys("k", "t2").await].concat();
    let all: std::collections::HashSet<_> = first.iter().chain(&others).collect();
    assert_eq!(all.len(), 6);
    assert!(first[0].len() == 32 && first[0].bytes().all(|byte| byte.is_ascii_hexdigit()));
    // Pinned: a deploy must not change it.
    assert_eq!(first[0], "362ccd5bc94cd9446d6bd964d1f21e67");
}

#[tokio::test(start_paused = true)]
async fn an_observer_is_told_of_the_outermost_call() {
    let engine = engine(POLICY);
    let inner = || engine.operation("inner").key("k").fingerprint(&()).run(async |_| Ok::<u32, Error>(1));
    let outer = || pay(&engine).run(async |_| inner().await.map(|one| one + 1));
    inner().await.expect("it runs");
    let (answer, seen) = idem_core::observe(outer()).await;
    assert_eq!((answer.expect("it runs"), seen.expect("it ran").is_replayed()), (2, false));
    let (_, seen) = idem_core::observe(outer()).await;
    assert!(seen.expect("it was replayed").is_replayed());
    let (failed, seen) = idem_core::observe(engine.operation("x").key("k").fingerprint(&()).run(async |_| {
        inner().await?;
        Err::<u32, _>(PayError::Busy)
    }))
    .await;
    assert_eq!(failed, Err(PayError::Busy));
    assert!(seen.is_some_and(|seen| !seen.is_recorded() && !seen.is_replayed()));
    let refused = engine.operation("pay").key("k").fingerprint(&1).run(async |_| Ok::<u32, Error>(1));
    assert_eq!(idem_core::observe(refused).await.1, None);
    let detached =
        engine.operation("detached").key("k").fingerprint(&()).run_detached(|_| async { Ok::<u32, Error>(1) });
    assert!(idem_core::observe(detached).await.1.is_some_and(|seen| seen.is_recorded()));
}

#[tokio::test(start_paused = true)]
async fn a_final_error_that_is_too_large_is_remembered_without_itself() {
    let engine = engine(POLICY.max_result(4));
    let call = async |answer| pay(&engine).keep(PayError::is_final).run(async |_| answer).await;
    assert_eq!(call(Err(PayError::Declined(3))).await, Err(PayError::Declined(3)));
    assert_eq!(call(Ok(1)).await.expect_err("not kept").kind(), Some(ErrorKind::ResultNotKept));
}

/// However short the retention: that there was a crash is remembered as without the person.
#[tokio::test(start_paused = true)]
async fn what_a_person_freed_is_remembered_as_long_as_the_crash_would_have_been() {
    let engine = engine(REFUSING.retention(Duration::from_millis(1)));
    for forget in [false, true] {
        crashes(pay(&engine)).await;
        let (_, fence) = standing(&engine).await;
        if forget {
            assert_eq!(engine.forget(&identity(), fence, false).await.expect("an answer"), ForgetReply::Released);
        } else {
            assert_eq!(engine.settle(&identity(), fence).run_again().await.expect("an answer"), SettleReply::Settled);
        }
        sleep(Duration::from_secs(86_400)).await;
        assert_eq!(attempt(pay(&engine)).await, Ok((2, true)));
        sleep(Duration::from_secs(1)).await;
    }
}

//! Outcomes that nobody knows: workers that are killed in the middle, under each policy, and what ends the doubt.

use std::io::{BufRead as _, BufReader};
use std::time::{Duration, Instant};

use idem::metrics::TAKEOVERS;
use idem::store::{ForgetReply, InspectReply, SettleReply};
use idem::{
    Attempt, Engine, Error, ErrorKind, Fence, Key, OnCrash, Operation, Outcome, Policy, RedisStore, Standing,
    Store as _,
};
use metrics_util::debugging::DebuggingRecorder;
use test_support::RedisServer;

use crate::actors::{KEY, dies_in_its_body, job, short};
use crate::support::{LEASE, Runs, child, engine_with, kind, pttl, server, value};
use crate::trouble::{Counts, eventually};

const DAY: i64 = 86_400_000;
const CHILD: &str = "IDEM_TEST_WORKER";

/// A worker that is to be killed: in its body, or while it asks what became of another one.
#[tokio::test]
async fn child_that_works_and_hangs() {
    let Ok(task) = std::env::var(CHILD) else { return };
    let (policy, url) = task.split_once(' ').expect("a policy and a URL");
    let engine = Engine::builder(RedisStore::from_url(url).unwrap()).policy(named(policy)).build().unwrap();
    let body = async |_: Attempt| {
        println!("began");
        std::future::pending::<Result<u32, Error>>().await
    };
    if policy == "recover" {
        let ask = async || {
            println!("began");
            std::future::pending::<Result<Option<u32>, Error>>().await
        };
        job(&engine).recover(ask).run(body).await.expect("killed before");
    } else {
        job(&engine).run(body).await.expect("killed before");
    }
}

fn named(policy: &str) -> Policy {
    match policy {
        "refuse" => short().on_crash(OnCrash::Refuse),
        _ => short(),
    }
}

/// A worker process that is killed in the middle.
fn kill_a_worker(server: &RedisServer, policy: &str) {
    let task = format!("{policy} {}", server.url());
    let mut child = child("unknown::child_that_works_and_hangs", CHILD, &task).spawn().expect("the child starts");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("began")), "the child ended before its body");
    child.kill().expect("it runs");
    child.wait().expect("it ran");
}

fn identity() -> Operation {
    Operation::new("job", None, &Key::of("k").expect("a key"))
}

async fn standing(engine: &Engine) -> (Standing, Fence) {
    match engine.inspect(&identity()).await.expect("an answer") {
        InspectReply::Known(known) => (known.standing, known.fence),
        other => panic!("{other:?}"),
    }
}

async fn is_abandoned(engine: &Engine) -> Fence {
    let until = Instant::now() + LEASE * 10;
    loop {
        let (standing, fence) = standing(engine).await;
        if standing == Standing::Abandoned {
            return fence;
        }
        assert!(Instant::now() < until, "{standing:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Case O-16, the default: exactly one call takes over, and knows that it does. Its fence is greater.
#[tokio::test]
async fn under_rerun_a_killed_worker_is_followed_once_by_one_who_knows() {
    let recorder = DebuggingRecorder::new();
    let counts = Counts::of(&recorder);
    let _recording = metrics::set_default_local_recorder(&recorder);
    let server = server();
    let engine = engine_with(&server, short());
    kill_a_worker(&server, "rerun");
    let fence = is_abandoned(&engine).await;
    let runs = Runs::default();
    let calls = (0..10).map(|_| {
        job(&engine).run(async |attempt| {
            runs.add();
            assert!(attempt.is_takeover() && attempt.number() == 2 && attempt.fence() > fence);
            Ok::<u32, Error>(7)
        })
    });
    let answers = futures_util::future::join_all(calls).await;
    assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|value| *value == 7)
        || answer.as_ref().is_err_and(|error| error.kind() == ErrorKind::InFlight)));
    assert_eq!(runs.count(), 1);
    assert_eq!(counts.take().sum(TAKEOVERS, &[]), 1);
}

/// Case O-16, and F2: nothing runs, and what happened is not forgotten when the retention ends.
#[tokio::test]
async fn under_refuse_a_killed_worker_is_not_followed_until_it_is_settled() {
    let server = server();
    let engine = engine_with(&server, named("refuse"));
    kill_a_worker(&server, "refuse");
    assert!(pttl(&server, KEY) > 6 * DAY, "remembered though nobody has met it");
    let fence = is_abandoned(&engine).await;
    let runs = Runs::default();
    let call = async || {
        job(&engine)
            .run(async |_| {
                runs.add();
                Ok::<u32, Error>(1)
            })
            .await
    };
    for _ in 0..3 {
        assert_eq!(kind(call().await), ErrorKind::Uncertain);
    }
    assert!(value(&server, KEY).unwrap().starts_with(b"1U"));
    assert!(pttl(&server, KEY) > 6 * DAY);
    // F30: the policy of who meets it decides, but no policy runs over what was declared uncertain.
    assert_eq!(kind(job(&engine).run(async |_| Ok::<u32, Error>(1)).await), ErrorKind::Uncertain);

    let found = engine.unsettled("job", Duration::ZERO).await.expect("an answer");
    assert_eq!(found.iter().map(|found| Operation::from_text(&found.text)).collect::<Vec<_>>(), [Some(identity())]);
    assert!(engine.unsettled("job", Duration::from_secs(3600)).await.expect("an answer").is_empty());
    assert!(engine.unsettled("jo*", Duration::ZERO).await.expect("an answer").is_empty());

    let settled = engine.settle(&identity(), fence).completed(&9_u32).await.expect("an answer");
    assert_eq!(settled, SettleReply::Settled);
    assert_eq!(call().await.expect("replayed"), 9);
    assert_eq!(runs.count(), 0);
}

/// F30.
#[tokio::test]
async fn the_policy_of_the_call_that_meets_a_crash_decides() {
    for (crashed, met, expected) in [("refuse", "rerun", Ok(2)), ("rerun", "refuse", Err(ErrorKind::Uncertain))] {
        let server = server();
        let engine = engine_with(&server, named(met));
        kill_a_worker(&server, crashed);
        is_abandoned(&engine).await;
        let ran = job(&engine).run(async |attempt| Ok::<u32, Error>(attempt.number())).await;
        assert_eq!(ran.map_err(|error| error.kind()), expected);
    }
}

/// F8c: also the one who asked is killed, and whoever comes then must not run over that.
#[tokio::test]
async fn under_recover_nothing_runs_before_an_answer_even_if_the_asker_is_killed() {
    let server = server();
    let engine = engine_with(&server, short());
    kill_a_worker(&server, "rerun");
    is_abandoned(&engine).await;
    kill_a_worker(&server, "recover");
    is_abandoned(&engine).await;
    let careless = job(&engine).run(async |_| Ok::<u32, Error>(1)).await;
    assert_eq!(kind(careless), ErrorKind::Uncertain);
    let runs = Runs::default();
    let asks = async |answer: Result<Option<u32>, Error>| {
        let call = job(&engine).recover(async || answer);
        call.run(async |attempt| {
            runs.add();
            assert!(attempt.is_takeover());
            Ok::<u32, Error>(attempt.number())
        })
        .await
    };
    let unanswered = Err(job(&engine).run(async |_| Ok::<u32, Error>(1)).await.expect_err("uncertain"));
    assert_eq!(kind(asks(unanswered).await), ErrorKind::Uncertain);
    assert_eq!(runs.count(), 0);
    assert_eq!(asks(Ok(None)).await.expect("it runs"), 4);
    assert_eq!(asks(Ok(Some(9))).await.expect("replayed"), 4);
    assert_eq!(runs.count(), 1);
}

#[tokio::test]
async fn what_was_found_is_replayed_and_the_body_never_runs() {
    let server = server();
    let engine = engine_with(&server, short());
    kill_a_worker(&server, "rerun");
    is_abandoned(&engine).await;
    let never = async |_: Attempt| -> Result<u32, Error> { panic!("the body runs") };
    assert_eq!(job(&engine).recover(async || Ok(Some(9))).run(never).await.expect("recovered"), 9);
    assert_eq!(job(&engine).run(never).await.expect("replayed"), 9);
}

/// F8b: the true outcome of one that was merely late is not thrown away.
#[tokio::test]
async fn a_late_owner_completes_what_was_declared_uncertain() {
    let server = server();
    let late = engine_with(&server, short().on_crash(OnCrash::Refuse).max_run(Duration::from_millis(1)));
    let (met, told) = tokio::sync::oneshot::channel();
    let running = job(&late).run(async |_| {
        told.await.unwrap();
        Ok::<u32, Error>(5)
    });
    let meeting = async {
        is_abandoned(&late).await;
        let refused = job(&late).run(async |_| Ok::<u32, Error>(1)).await;
        assert_eq!(kind(refused), ErrorKind::Uncertain);
        met.send(()).unwrap();
    };
    let (completed, ()) = tokio::join!(running, meeting);
    assert_eq!(completed.expect("its own"), 5);
    assert_eq!(job(&late).run(async |_| Ok::<u32, Error>(1)).await.expect("replayed"), 5);
}

/// F14: an answer, and no state. What the last attempt still completes with is accepted.
#[tokio::test]
async fn exhausted_attempts_change_nothing_and_a_raised_limit_works_at_once() {
    let server = server();
    let limited = |most: u32| short().max_attempts(most.try_into().unwrap());
    let engine = engine_with(&server, limited(1));
    kill_a_worker(&server, "rerun");
    is_abandoned(&engine).await;
    let before = (value(&server, KEY), pttl(&server, KEY));
    let refused = job(&engine).run(async |_| Ok::<u32, Error>(1)).await.expect_err("exhausted");
    assert_eq!(refused.to_string(), "job: the attempts are exhausted; the outcome of the last one is unknown");
    assert_eq!(value(&server, KEY), before.0);
    assert!(pttl(&server, KEY) <= before.1);
    let raised = engine_with(&server, limited(2));
    assert_eq!(job(&raised).run(async |attempt| Ok::<u32, Error>(attempt.number())).await.expect("it runs"), 2);
}

/// F22.
#[tokio::test]
async fn a_held_claim_is_forgotten_only_by_force_and_then_fenced_out() {
    let server = server();
    let engine = engine_with(&server, short());
    let running = job(&engine).run(async |_| {
        let (_, fence) = standing(&engine).await;
        let forget = async |force| engine.forget(&identity(), fence, force).await.expect("an answer");
        assert_eq!(forget(false).await, ForgetReply::Live);
        assert_eq!(forget(true).await, ForgetReply::Released);
        std::future::pending::<Result<u32, Error>>().await
    });
    assert_eq!(kind(running.await), ErrorKind::LeaseLost);
    let next = job(&engine).run(async |attempt| Ok::<_, Error>((attempt.number(), attempt.is_takeover()))).await;
    assert_eq!(next.expect("it runs"), (2, true));
    let (_, fence) = standing(&engine).await;
    assert_eq!(engine.forget(&identity(), fence, false).await.expect("an answer"), ForgetReply::Deleted);
    assert_eq!(value(&server, KEY), None);
}

/// F23.
#[tokio::test]
async fn a_released_record_lives_as_long_as_the_policy_says() {
    let server = server();
    for (policy, expected) in [(short(), 60_000), (short().release_retention(Duration::from_secs(5)), 5_000)] {
        let engine = engine_with(&server, policy);
        let failed = job(&engine).run(async |_| Err::<u32, _>(anyhow::anyhow!("busy"))).await;
        failed.expect_err("the body's own");
        assert!((expected - 1_000..=expected).contains(&pttl(&server, KEY)));
    }
}

/// F19.
#[tokio::test]
async fn after_a_rejection_other_arguments_may_follow() {
    let server = server();
    let engine = engine_with(&server, short());
    let call = async |cents: u32, answer: anyhow::Result<u32>| {
        let call = engine.operation("job").key("k").fingerprint(&cents);
        let judged = call.reject(|error: &anyhow::Error| error.to_string() == "no amount");
        judged.run(async |_| answer).await
    };
    call(0, Err(anyhow::anyhow!("no amount"))).await.expect_err("rejected");
    assert!(value(&server, KEY).unwrap().starts_with(b"1R--"));
    assert_eq!(call(5, Ok(5)).await.expect("it runs"), 5);
    let mismatch = call(6, Ok(6)).await.expect_err("bound");
    assert_eq!(Error::find(&*mismatch).map(Error::kind), Some(ErrorKind::Mismatch));
}

/// F15: after a failover to a replica that had not got the claim yet, the record is that of the attempt before. Nobody has
/// come since, so the owner, who is sure of its lease, goes on.
#[tokio::test]
async fn a_server_that_went_back_in_time_costs_its_owner_nothing() {
    for by_renewal in [false, true] {
        let server = server();
        let engine = engine_with(&server, short());
        dies_in_its_body(&engine).await;
        is_abandoned(&engine).await;
        let before = value(&server, KEY).unwrap();
        let owner = job(&engine).run(async |attempt| {
            assert_eq!(attempt.number(), 2);
            let claimed = value(&server, KEY).unwrap();
            // What is left of its life says that its lease is over.
            let put_back = server.command(&[&b"SET"[..], KEY.as_bytes(), &before, b"PX", b"1000"]);
            put_back.expect("an answer");
            if by_renewal {
                eventually("written again", || value(&server, KEY).unwrap() == claimed).await;
            }
            Ok::<Outcome<u32>, Error>(5.into())
        });
        let outcome = owner.await.expect("nobody followed");
        let seen = *outcome.seen().expect("it ended");
        assert!(seen.is_recorded() && seen.had_vanished());
        assert_eq!(job(&engine).run(async |_| Ok::<u32, Error>(1)).await.expect("replayed"), 5);
    }
}

/// F28: what is not there can be seen by nobody. What the server itself tells of such losses is watched.
#[tokio::test]
async fn a_completed_record_that_the_server_lost_is_a_first_call_again() {
    let server = server();
    let engine = engine_with(&server, short());
    let call =
        async || job(&engine).run(async |attempt| Ok::<_, Error>((attempt.number(), attempt.is_takeover()))).await;
    assert_eq!(call().await.expect("it runs"), (1, false));
    server.command(&["DEL", KEY]).expect("an answer");
    assert_eq!(call().await.expect("it runs, in silence"), (1, false));
}

/// F29: a claim's message that arrives after everybody gave it up, and after another call came and went, wins. It holds the
/// key for one lease.
#[cfg(feature = "conformance")]
#[tokio::test]
async fn a_ghost_holds_its_key_for_one_lease() {
    use idem::conformance::Intent;
    use idem::store::{ClaimReply, ReleaseReply};

    let server = server();
    let store = RedisStore::from_url(&server.url()).unwrap();
    let (intent, lease) = (Intent::new(), Intent::LEASE);
    let late = intent.claim();
    assert_eq!(store.release(&intent.release(&late, None)).await.unwrap(), ReleaseReply::Unchanged);
    let came = intent.claim();
    let ClaimReply::Acquired(grant) = store.claim(&came).await.unwrap() else { panic!("it is free") };
    store.release(&intent.release(&came, Some(grant))).await.unwrap();

    let arrived = Instant::now();
    assert!(matches!(store.claim(&late).await.unwrap(), ClaimReply::Acquired(_)));
    let mut refused = 0;
    let next = loop {
        match store.claim(&intent.claim()).await.unwrap() {
            ClaimReply::Acquired(grant) => break grant,
            reply => assert!(matches!(reply, ClaimReply::InFlight { left } if left <= lease), "{reply:?}"),
        }
        refused += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert!(refused > 0 && arrived.elapsed() < lease + Duration::from_millis(200), "{:?}", arrived.elapsed());
    assert_eq!((next.attempt, next.origin.follows_takeover()), (3, true), "as after any crash");
}

//! Claims that are answered late, or not at all: what is not sure of a fresh lease does not begin.

use std::time::{Duration, Instant};

use idem::{Error, ErrorKind, Policy, StoreErrorKind};
use test_support::{Command, Direction, Monitor};

use crate::actors::{KEY, Remote, follow, job, short};
use crate::support::{LEASE, Runs, engine, engine_with, server, value};
use crate::trouble::{LATE, call, eventually};

/// Claims by `SET` of [`job`]'s record: the record that each would write.
fn claims(monitor: &Monitor) -> Vec<String> {
    let commands = monitor.client_commands().expect("the monitor");
    let claim = |command: &Command| {
        (command.name() == "SET" && command.word(1).as_deref() == Some(KEY)).then(|| command.word(2))
    };
    commands.iter().filter_map(claim).flatten().collect()
}

/// Both shared lanes of an engine are connected, and the server knows its scripts.
async fn connected(remote: &Remote) {
    let released = remote.engine.operation("warm").key("released").fingerprint(&());
    released.run(async |_| Err::<(), Box<dyn std::error::Error>>("released".into())).await.expect_err("its own");
    call(&remote.engine, "warm", &Runs::default()).await.expect("executed");
}

/// Scenario F5.
#[tokio::test]
async fn a_claim_that_is_answered_late_is_given_up_and_made_anew() {
    is_given_up_and_made_anew().await;
}

/// Scenario F5, where the keeper has a thread of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_is_answered_late_on_several_threads_is_given_up_and_made_anew() {
    is_given_up_and_made_anew().await;
}

async fn is_given_up_and_made_anew() {
    let server = server();
    let lease = Duration::from_secs(1);
    let a = Remote::bounded(&server, short().lease(lease), Duration::from_secs(10));
    // Within the lease but too late to begin, and after it.
    for late in [lease * 8 / 10, lease * 12 / 10] {
        server.command(&["FLUSHALL"]).expect("FLUSHALL");
        connected(&a).await;
        let monitor = Monitor::start(&server).expect("a monitor");
        a.proxy.hold(Direction::ToClient, true);
        let runs = Runs::default();
        let claimed = job(&a.engine).run(async |attempt| {
            runs.add();
            assert!(attempt.remaining() > lease * 8 / 10, "{:?}", attempt.remaining());
            Ok::<_, Error>((attempt.number(), attempt.is_takeover()))
        });
        let let_go = async {
            eventually("claimed", || value(&server, KEY).is_some()).await;
            tokio::time::sleep(late).await;
            a.proxy.hold(Direction::ToClient, false);
        };
        let (claimed, ()) = tokio::join!(claimed, let_go);
        assert_eq!(claimed.expect("executed"), (2, false), "nothing ran under the first claim: no takeover");
        assert_eq!(runs.count(), 1);
        let claims = claims(&monitor);
        assert_eq!(claims.len(), 2, "{claims:?}");
        assert_ne!(claims[0][40..62], claims[1][40..62], "a new token after an answer");
    }
}

/// Scenario F5: whatever the network does, a body begins with a third of its lease at least, or not at all.
#[tokio::test]
async fn no_body_begins_with_less_than_a_third_of_its_lease() {
    let server = server();
    let b = engine(&server);
    for tenths in [0, 3, 5, 6, 7, 8, 11] {
        let a = Remote::bounded(&server, short(), Duration::from_secs(10));
        connected(&a).await;
        a.proxy.delay(Direction::ToClient, LEASE * tenths / 10);
        let mut left = None;
        let claimed = job(&a.engine).run(async |attempt| {
            left = Some(attempt.remaining());
            Ok::<_, Error>(1)
        });
        match claimed.await {
            Ok(_) => {
                assert!(tenths < 7, "{tenths} tenths");
                // The look itself takes a moment.
                assert!(
                    left.expect("it ran") + Duration::from_millis(20) > LEASE / 3,
                    "{left:?} after {tenths} tenths"
                );
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Store(StoreErrorKind::Unavailable), "{tenths} tenths");
                assert!(left.is_none() && tenths > 3, "{tenths} tenths");
                let next = follow(&b, 2).await;
                assert!(!next.is_takeover(), "nothing ran before: {tenths} tenths");
            }
        }
        server.command(&["DEL", KEY]).expect("DEL");
    }
}

/// Scenario F12.
#[tokio::test]
async fn no_conflict_tells_to_wait_longer_than_a_lease_of_the_callers_own() {
    let server = server();
    let (a, b) = (engine_with(&server, Policy::new().lease(Duration::from_secs(60))), engine(&server));
    let wait = async || {
        let error = job(&b).run(async |_| Ok::<_, Error>(2)).await.expect_err("in flight");
        assert_eq!(error.kind(), ErrorKind::InFlight);
        error.retry_after().expect("what is left")
    };
    let owner = job(&a).run(async |_| {
        assert!(wait().await <= LEASE, "the holder's lease is longer");
        server.command(&["PEXPIRE", KEY, "999999999"]).expect("PEXPIRE");
        assert!(wait().await <= LEASE, "the server's clock stepped back");
        Ok::<_, Error>(1)
    });
    assert_eq!(owner.await.unwrap(), 1);
}

/// Scenario F27: a claim without an answer is repeated as it was, so that it recognises itself.
#[tokio::test]
async fn a_claim_keeps_its_token_until_it_is_answered() {
    let server = server();
    let policy = short().lease(Duration::from_secs(30));
    let a = Remote::bounded(&server, policy, Duration::from_secs(20));
    connected(&a).await;
    let monitor = Monitor::start(&server).expect("a monitor");
    let late = Duration::from_millis(300);
    a.proxy.delay(Direction::ToClient, late);
    let runs = Runs::default();
    let claimed = job(&a.engine).run(async |attempt| {
        runs.add();
        Ok::<_, Error>((attempt.number(), attempt.is_takeover()))
    });
    let cuts = async {
        for made in 1..=3 {
            eventually("claimed", || claims(&monitor).len() == made).await;
            a.proxy.cut();
        }
        eventually("claimed once more", || claims(&monitor).len() == 4).await;
        a.proxy.delay(Direction::ToClient, Duration::ZERO);
    };
    let (claimed, ()) = tokio::join!(claimed, cuts);
    assert_eq!(claimed.unwrap(), (1, false), "it was its own claim");
    assert_eq!(runs.count(), 1);
    let claims = claims(&monitor);
    assert!(claims.windows(2).all(|pair| pair[0] == pair[1]), "{claims:?}");
}

/// Scenario F7: nothing can have happened, so nobody has to wait.
#[tokio::test]
async fn a_call_that_is_dropped_before_its_body_began_frees_its_key_at_once() {
    let server = server();
    let lease = Duration::from_secs(60);
    let a = Remote::new(&server, short().lease(lease));
    connected(&a).await;
    a.proxy.hold(Direction::ToClient, true);
    let runs = Runs::default();
    let claim = job(&a.engine).run(async |_| Ok::<_, Error>(runs.add()));
    let claimed = eventually("claimed", || value(&server, KEY).is_some());
    tokio::select! {
        _ = claim => panic!("no answer came"),
        () = claimed => {}
    }
    let dropped = Instant::now();
    eventually("released", || value(&server, KEY).is_some_and(|record| record.starts_with(b"1R"))).await;
    assert!(dropped.elapsed() < LATE, "{:?}", dropped.elapsed());
    let next = follow(&engine(&server), 2).await;
    assert_eq!((next.number(), next.is_takeover()), (2, false));
    assert_eq!(runs.count(), 0);
}

//! Calls that meet: one runs, the others are told so, and nobody's record is touched by those who are refused.

use std::sync::Arc;
use std::time::Duration;

use idem::{Engine, Error, ErrorKind};
use rand::RngExt as _;
use test_support::Monitor;
use tokio::sync::Barrier;

use crate::support::{Runs, engine, kind, pttl, server, value};

async fn call(engine: &Engine, runs: &Runs, key: &str, busy: Duration) -> Result<String, Error> {
    let operation = engine.operation("race").key(key).fingerprint(&());
    operation
        .run(async |_| {
            runs.add();
            tokio::time::sleep(busy).await;
            Ok(format!("result of {key}"))
        })
        .await
}

/// Case O-01.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_64_concurrent_first_calls_from_two_engines_one_runs() {
    let server = server();
    let engines = [engine(&server), engine(&server)];
    let runs = Arc::new(Runs::default());
    for round in 0..200 {
        let barrier = Arc::new(Barrier::new(64));
        let calls: Vec<_> = (0..64)
            .map(|caller| {
                let (engine, runs, barrier) = (engines[caller % 2].clone(), Arc::clone(&runs), Arc::clone(&barrier));
                tokio::spawn(async move {
                    barrier.wait().await;
                    call(&engine, &runs, &format!("round {round}"), Duration::from_millis(20)).await
                })
            })
            .collect();
        let mut given = 0;
        for ended in calls {
            match ended.await.expect("no panic") {
                Ok(value) => {
                    assert_eq!(value, format!("result of round {round}"));
                    given += 1;
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::InFlight),
            }
        }
        assert!(given >= 1);
        assert_eq!(runs.count(), round + 1);
    }
}

#[tokio::test]
async fn the_first_write_to_a_record_is_conditional() {
    let server = server();
    let engine = engine(&server);
    let monitor = Monitor::start(&server).expect("a monitor");
    call(&engine, &Runs::default(), "a", Duration::ZERO).await.unwrap();
    let commands = monitor.client_commands().expect("the monitor");
    let first = commands.iter().find(|command| command.word(1).as_deref() == Some("idem:{race::a}"));
    let words = first.expect("a write").words().iter().map(|word| String::from_utf8_lossy(word)).collect::<Vec<_>>();
    assert_eq!(words[0], "SET");
    assert_eq!(&words[3..], ["NX", "GET", "PX", "60000"]);
}

/// Case O-03.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_duplicate_is_ever_given_the_lock_as_a_result() {
    let server = server();
    let engine = engine(&server);
    for round in 0..4 {
        let (text, json) = (format!("text {round}"), format!("json {round}"));
        let duplicates: Vec<_> = (0..50)
            .map(|_| {
                let (engine, text, json) = (engine.clone(), text.clone(), json.clone());
                let offset = Duration::from_millis(rand::rng().random_range(0..150));
                tokio::spawn(async move {
                    tokio::time::sleep(offset).await;
                    let given = call(&engine, &Runs::default(), &text, Duration::from_millis(75)).await;
                    let operation = engine.operation("race").key(&json).fingerprint(&());
                    let value = operation
                        .run(async |_| {
                            tokio::time::sleep(Duration::from_millis(75)).await;
                            Ok::<_, Error>(serde_json::json!({"of": 1}))
                        })
                        .await;
                    (given, value)
                })
            })
            .collect();
        for duplicate in duplicates {
            let (given, value) = duplicate.await.expect("no panic");
            match given {
                Ok(given) => assert_eq!(given, format!("result of {text}")),
                Err(error) => assert_eq!(error.kind(), ErrorKind::InFlight),
            }
            match value {
                Ok(value) => assert_eq!(value, serde_json::json!({"of": 1})),
                Err(error) => assert_eq!(error.kind(), ErrorKind::InFlight),
            }
        }
    }
}

/// Case O-04.
#[tokio::test]
async fn a_refused_call_leaves_the_record_as_it_was() {
    let server = server();
    let (a, b) = (engine(&server), engine(&server));
    let runs = Runs::default();
    let key = "idem:{guarded::k}";
    let operation = |engine: &Engine, payload: u8| engine.operation("guarded").key("k").fingerprint(&payload);
    let run =
        async |engine: &Engine, payload| operation(engine, payload).run(async |_| Ok::<_, Error>(runs.add())).await;

    let (started, running) = tokio::sync::oneshot::channel();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let first = operation(&a, 1).run(async |_| {
        started.send(()).unwrap();
        ended.await.unwrap();
        Ok::<_, Error>(runs.add())
    });
    let meanwhile = async {
        running.await.unwrap();
        let (before, life) = (value(&server, key), pttl(&server, key));
        assert_eq!(kind(run(&b, 1).await), ErrorKind::InFlight);
        assert_eq!(kind(run(&b, 1).await), ErrorKind::InFlight);
        assert_eq!(kind(run(&b, 2).await), ErrorKind::Mismatch);
        assert_eq!(value(&server, key), before);
        let later = pttl(&server, key);
        assert!(later <= life && life - later < 5_000, "{life} then {later}");
        end.send(()).unwrap();
    };
    let (first, ()) = tokio::join!(first, meanwhile);
    assert_eq!(first.unwrap(), 1);

    let settled = value(&server, key);
    assert_eq!(kind(run(&b, 2).await), ErrorKind::Mismatch);
    assert_eq!(run(&b, 1).await.unwrap(), 1);
    assert_eq!(value(&server, key), settled);
    assert_eq!(runs.count(), 1);
}

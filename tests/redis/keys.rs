//! Keys that are none, keys that must not collide, and keys of different tenants.

use idem::{Error, ErrorKind, IdempotencyKey, idempotent};
use test_support::Monitor;

use crate::support::{Runs, engine, keys, kind, server};

/// Case O-24.
#[tokio::test]
async fn a_call_without_a_key_is_refused_before_anything_is_sent() {
    let server = server();
    let engine = engine(&server);
    let runs = Runs::default();
    let monitor = Monitor::start(&server).expect("a monitor");
    let refused = async |key: &dyn IdempotencyKey, scope: &dyn IdempotencyKey| {
        let call = engine.operation("pay").key(key).scope(scope).fingerprint(&());
        assert_eq!(kind(call.run(async |_| Ok::<_, Error>(runs.add())).await), ErrorKind::InvalidKey);
    };
    for blank in ["", " ", "\n", "\0", "\t \u{a0}"] {
        refused(&blank, &"tenant").await;
        refused(&Some(blank), &"tenant").await;
        refused(&"key", &blank).await;
    }
    for _ in 0..3 {
        refused(&None::<String>, &"tenant").await;
        refused(&("a", None::<u64>), &"tenant").await;
    }
    assert_eq!(monitor.client_commands().expect("the monitor").len(), 0);
    assert_eq!((runs.count(), keys(&server)), (0, 0));

    let some = engine.operation("pay").key(&Some("None")).fingerprint(&());
    some.run(async |_| Ok::<_, Error>(runs.add())).await.unwrap();
    assert_eq!((runs.count(), keys(&server)), (1, 1));
}

/// Case O-25, end to end; the property itself is tested where the text form is made.
#[tokio::test]
async fn parts_that_read_the_same_when_joined_are_different_intents() {
    let server = server();
    let engine = engine(&server);
    let runs = Runs::default();
    let run = async |name: &'static str, key: (&str, &str)| {
        let call = engine.operation(name).key(&key).fingerprint(&());
        call.run(async |_| Ok::<_, Error>(runs.add())).await.unwrap()
    };
    assert_eq!(run("h", ("x:y", "z")).await, 1);
    assert_eq!(run("h:x", ("y", "z")).await, 2);
    assert_eq!(run("h", ("x", "y:z")).await, 3);
    let long = "x".repeat(1 << 20);
    assert_eq!(run("h", (&long, "1")).await, 4);
    assert_eq!(run("h", (&long, "2")).await, 5);
    assert_eq!(run("h", (&long, "1")).await, 4);
    assert_eq!(runs.count(), 5);
}

mod before_a_deploy {
    use super::*;

    #[idempotent(name = "charge.v1", key = id)]
    pub(super) async fn charge(id: &str) -> Result<String, Error> {
        Ok(format!("before: {id}"))
    }
}

mod after_a_deploy {
    use super::*;

    #[idempotent(name = "charge.v1", key = number)]
    pub(super) async fn charge_moved_and_renamed(number: &str) -> Result<String, Error> {
        Ok(format!("after: {number}"))
    }
}

/// Case O-27, the half that needs two engines on one store; the other half is in `tests/names.rs`.
#[tokio::test]
async fn a_named_function_finds_its_records_after_it_was_moved_and_renamed() {
    let server = server();
    let before = idem::with_engine(engine(&server), before_a_deploy::charge("order-1")).await.unwrap();
    assert_eq!(before, "before: order-1");
    let after = idem::with_engine(engine(&server), after_a_deploy::charge_moved_and_renamed("order-1")).await.unwrap();
    assert_eq!(after, before, "replayed");
}

/// Case O-26.
#[tokio::test]
async fn a_tenant_is_never_given_anothers_result() {
    let server = server();
    let engine = engine(&server);
    let runs = Runs::default();
    let call = async |tenant: &str| {
        let call = engine.operation("report").key("monthly").scope(tenant).fingerprint(&());
        let value = call.run(async |_| {
            runs.add();
            Ok::<_, Error>(tenant.to_owned())
        });
        value.await.unwrap()
    };
    for tenant in ["one", "two", "one", "two"] {
        assert_eq!(call(tenant).await, tenant);
    }
    assert_eq!(runs.count(), 2);
}

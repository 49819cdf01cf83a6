//! A server in cluster mode, met over plain connections: it refuses whatever would touch two slots.

use idem::{Engine, Error, ErrorKind, Policy};
use test_support::{Monitor, RedisServer, Reply};

use crate::support::{Runs, kind};
use crate::trouble::{
    LONG_LEASE, SHORT_LEASE, call, call_around, cluster_without_slots, crash, end_lease, engine_at, fails_after,
    give_all_slots, result_of, until_it_runs, until_renewed,
};

/// A call that lasts until its first renewal.
async fn call_renewed(engine: &Engine, key: &str) {
    let policy = Policy::new().lease(SHORT_LEASE);
    let operation = engine.operation("story").policy(policy).key(key).fingerprint(&());
    let renewed = async |_| {
        until_renewed().await;
        Ok::<_, Error>(())
    };
    operation.run(renewed).await.expect("executed");
}

fn only_key(server: &RedisServer) -> String {
    match server.command(&["KEYS", "*"]).expect("KEYS") {
        Reply::Array(keys) if keys.len() == 1 => keys[0].text().expect("a key"),
        other => panic!("not one key: {other:?}"),
    }
}

/// Case O-37, on one node: every command of a call names one key, whose hash tag is the whole identity.
#[tokio::test]
async fn all_of_a_call_lies_in_one_slot() {
    let server = cluster_without_slots();
    give_all_slots(&server);
    let slot = |key: &str| server.command(&["CLUSTER", "KEYSLOT", key]).expect("KEYSLOT").int().expect("a slot");
    let engine = engine_at(&server.url(), LONG_LEASE);
    let mut slots = Vec::new();
    for key in ["a", "a:b", "a{b}c", "{a}", "}{", "käse/チーズ", &"x".repeat(2048)] {
        let monitor = Monitor::start(&server).expect("a monitor");
        let runs = Runs::default();
        server.command(&["FLUSHALL"]).expect("FLUSHALL");
        fails_after(&engine, key, async || {}).await;
        crash(&engine, key).await;
        end_lease(&server, &only_key(&server));
        assert_eq!(until_it_runs(&engine, key).await, (3, true), "{key}");
        server.command(&["FLUSHALL"]).expect("FLUSHALL");
        call_renewed(&engine, key).await;
        server.command(&["FLUSHALL"]).expect("FLUSHALL");
        let ended = call_around(&engine, key, &runs, async || {
            assert_eq!(kind(call(&engine, key, &Runs::default()).await), ErrorKind::InFlight);
        });
        assert!(ended.await.expect("executed").seen().expect("told").is_recorded());
        let again = call_around(&engine, key, &runs, async || {}).await.expect("replayed");
        assert!(again.seen().expect("told").is_replayed());
        server.command(&["FLUSHALL"]).expect("FLUSHALL");
        assert_eq!(call(&engine, key, &runs).await.expect("executed"), result_of(key));

        let commands = monitor.client_commands().expect("the monitor");
        let mut records: Vec<String> = commands
            .iter()
            .filter_map(|command| match command.name().as_str() {
                "SET" => command.word(1),
                "EVAL" | "EVALSHA" => {
                    assert_eq!(command.word(2).as_deref(), Some("1"), "{command:?}");
                    command.word(3)
                }
                _ => None,
            })
            .collect();
        assert!(records.len() > 10, "{records:?}");
        records.dedup();
        let [record] = &records[..] else { panic!("more than one key: {records:?}") };
        let tag = record.strip_prefix("idem:{").and_then(|rest| rest.strip_suffix('}')).expect("one hash tag");
        assert!(!tag.contains(['{', '}']), "{tag}");
        assert_eq!(slot(record), slot(tag));
        slots.push(slot(record));
    }
    slots.sort_unstable();
    slots.dedup();
    assert!(slots.len() > 4, "identities are spread: {slots:?}");
}

//! Records that no release of idem left there, or a newer one: nothing runs on them, and nothing is written over them.

use std::cell::Cell;

use idem::metrics::{LEASES_LOST, UNRECORDED};
use idem::{Engine, Error, ErrorKind, Outcome, RedisStore};
use metrics_util::debugging::DebuggingRecorder;
use test_support::{Command, Monitor, RedisServer, Reply};

use crate::support::{Runs, pool, pttl, server};
use crate::trouble::{
    Counts, LONG_LEASE, SHORT_LEASE, builder_at, call, call_around, crash, end_lease, engine_at, eventually,
    fails_after, record_of, texts,
};

/// Value and type, as the server would write them to disk.
fn dump(server: &RedisServer, key: &str) -> Option<Vec<u8>> {
    match server.command(&["DUMP", &record_of(key)]).expect("DUMP") {
        Reply::Bulk(dump) => dump,
        other => panic!("no dump: {other:?}"),
    }
}

/// Changes one letter of a header, and nothing of its life.
fn overwrite(server: &RedisServer, key: &str, at: &str, letter: &str) {
    let length = server.command(&["SETRANGE", &record_of(key), at, letter]).expect("SETRANGE").int();
    assert!(length.is_some_and(|length| length >= 40), "no record of {key}");
}

/// A call finds the record of `key` unusable for the reason `why`, with the fast claim and with the script, whatever its
/// arguments, and leaves it as it is.
async fn is_corrupt(server: &RedisServer, key: &str, why: &str) {
    let before = (dump(server, key), pttl(server, &record_of(key)) < 0);
    let runs = Runs::default();
    for fast_claim in [true, false] {
        let engine = builder_at(&server.url(), fast_claim).build().expect("a valid policy");
        for arguments in [None, Some("other")] {
            let operation = engine.operation("story").key(key).fingerprint(&arguments);
            let error = operation.run(async |_| Ok::<_, Error>(runs.add())).await.expect_err(why);
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{}", texts(&error));
            assert!(error.may_have_run() && !error.is_retryable());
            assert!(texts(&error).contains(why), "{}", texts(&error));
        }
    }
    assert_eq!(runs.count(), 0);
    assert_eq!((dump(server, key), pttl(server, &record_of(key)) < 0), before);
}

/// What becomes of a call that runs when its record is replaced: it ends at once, after a renewal, or with an error.
struct Replaced {
    at_once: Result<Outcome<u32>, Error>,
    renewed: Result<Outcome<u32>, Error>,
    unrecorded: u64,
    lost: u64,
}

/// Runs calls whose record is replaced by `replace` meanwhile; whatever they come to, they leave it alone.
async fn replaced(server: &RedisServer, replace: impl Fn(&str)) -> Replaced {
    let recorder = DebuggingRecorder::new();
    let counts = Counts::of(&recorder);
    let _guard = metrics::set_default_local_recorder(&recorder);
    let engine = engine_at(&server.url(), SHORT_LEASE);
    let monitor = Monitor::start(server).expect("a monitor");
    let left = Cell::new(None);
    let unchanged = |key: &str| assert_eq!(dump(server, key), left.take(), "{key}");
    let damage = |key: &str| {
        replace(key);
        left.set(dump(server, key));
    };
    let runs = Runs::default();
    let at_once = call_around(&engine, "at-once", &runs, async || damage("at-once")).await;
    unchanged("at-once");
    let renewed = call_around(&engine, "renewed", &runs, async || {
        damage("renewed");
        let record = record_of("renewed");
        let names = |command: &Command| command.word(3).as_ref() == Some(&record);
        let is_renewed = || monitor.client_commands().expect("the monitor").iter().any(names);
        eventually("a renewal", is_renewed).await;
    });
    let renewed = renewed.await;
    unchanged("renewed");
    let counted = counts.take();
    fails_after(&engine, "failed", async || damage("failed")).await;
    unchanged("failed");
    Replaced { at_once, renewed, unrecorded: counted.sum(UNRECORDED, &[]), lost: counted.sum(LEASES_LOST, &[]) }
}

/// Scenario F6: not even when its lease would be over.
#[tokio::test]
async fn a_claim_that_never_expires_is_corrupt_and_never_taken_over() {
    let server = server();
    crash(&engine_at(&server.url(), SHORT_LEASE), "k").await;
    server.command(&["PERSIST", &record_of("k")]).expect("PERSIST");
    for _ in 0..2 {
        assert_eq!(pttl(&server, &record_of("k")), -1);
        // The same arguments as the crashed call: others are a mismatch, which needs no lease to be read.
        for fast_claim in [true, false] {
            let engine = builder_at(&server.url(), fast_claim).build().expect("a valid policy");
            let runs = Runs::default();
            let error = call(&engine, "k", &runs).await.expect_err("corrupt");
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert!(texts(&error).contains("the record has no expiry"), "{}", texts(&error));
            assert_eq!(runs.count(), 0);
        }
        tokio::time::sleep(SHORT_LEASE).await;
    }
}

/// Scenario F16.
#[tokio::test]
async fn a_foreign_value_is_corrupt_and_left_alone() {
    let server = server();
    let foreign: [(&str, &[&str]); 5] = [
        ("the stored value is no readable record", &["SET", ""]),
        ("the stored value is no readable record", &["SET", "hello"]),
        ("the stored value has a foreign type", &["RPUSH", "x"]),
        ("the stored value has a foreign type", &["HSET", "field", "x"]),
        ("the stored value has a foreign type", &["SADD", "x"]),
    ];
    for (why, command) in foreign {
        let put = |key: &str| {
            let record = record_of(key);
            server.command(&["DEL", &record]).expect("DEL");
            let words = [&command[..1], &[&record], &command[1..]].concat();
            assert!(!matches!(server.command(&words), Ok(Reply::Error(_)) | Err(_)), "{words:?}");
        };
        put("k");
        is_corrupt(&server, "k", why).await;

        let Replaced { at_once, renewed, unrecorded, lost } = replaced(&server, put).await;
        for ended in [at_once, renewed] {
            let outcome = ended.expect("its caller has its value");
            assert!(!outcome.seen().expect("told").is_recorded());
        }
        assert_eq!((unrecorded, lost), (2, 0), "{command:?}");
        server.command(&["FLUSHALL"]).expect("FLUSHALL");
    }
}

/// Scenario F17: a newer release wrote it, so another claim came after that of the call that runs.
#[tokio::test]
async fn a_record_of_an_unknown_version_is_corrupt_for_a_claim_and_a_loss_for_an_owner() {
    let server = server();
    let newer = |key: &str| {
        overwrite(&server, key, "0", "2");
    };
    let engine = engine_at(&server.url(), LONG_LEASE);
    call(&engine, "settled", &Runs::default()).await.expect("executed");
    fails_after(&engine, "released", async || {}).await;
    crash(&engine, "over").await;
    end_lease(&server, &record_of("over"));
    crash(&engine, "in-flight").await;
    for key in ["settled", "released", "over", "in-flight"] {
        newer(key);
        is_corrupt(&server, key, "the record's format version is unknown to this release").await;
    }

    let Replaced { at_once, renewed, unrecorded, lost } = replaced(&server, newer).await;
    for ended in [at_once, renewed] {
        let error = ended.expect_err("lost");
        assert_eq!(error.kind(), ErrorKind::LeaseLost, "{}", texts(&error));
        assert!(error.may_have_run());
    }
    assert_eq!((unrecorded, lost), (0, 2));
}

/// Scenario F17: fingerprints of two schemes cannot be compared, so this is no mismatch either.
#[tokio::test]
async fn a_record_of_an_unknown_fingerprint_scheme_is_corrupt_and_never_a_mismatch() {
    let server = server();
    let engine = engine_at(&server.url(), LONG_LEASE);
    call(&engine, "settled", &Runs::default()).await.expect("executed");
    fails_after(&engine, "released", async || {}).await;
    crash(&engine, "over").await;
    end_lease(&server, &record_of("over"));
    for key in ["settled", "released", "over"] {
        overwrite(&server, key, "3", "2");
        is_corrupt(&server, key, "the record's fingerprint scheme is unknown to this release").await;
    }
}

/// Scenario F18: it would begin the hash tag, and every record would lie in one slot.
#[tokio::test]
async fn a_prefix_with_a_brace_builds_no_store() {
    let server = server();
    for prefix in ["{app}", "app{", "}app"] {
        let refused = RedisStore::builder(pool(&server, 1)).prefix(prefix).build().expect_err("refused");
        assert!(refused.to_string().contains("brace"), "{refused}");
    }
    let store = RedisStore::builder(pool(&server, 1)).prefix("app:eu").build().expect("a store");
    call(&Engine::new(store), "k", &Runs::default()).await.expect("executed");
    assert_eq!(server.command(&["EXISTS", "app:eu:{story::k}"]).expect("EXISTS").int(), Some(1));
}

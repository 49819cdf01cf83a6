//! The small examples do what they say: run as a person would, in memory and on a Redis, checked by what they print.
#![cfg(all(feature = "macros", feature = "redis"))]

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use test_support::RedisServer;

/// The examples take the defaults, as a service would, and so an answer of the store that takes a second is an error to them:
/// one plays at a time.
static STAGE: Mutex<()> = Mutex::new(());

/// What the example as built beside this test prints: `cargo test` builds all, `cargo test --test examples` does not.
#[track_caller]
fn printed(example: &str, server: Option<&RedisServer>) -> String {
    let test = std::env::current_exe().expect("a test knows its own path");
    let profile = test.ancestors().nth(2).expect("tests are built in <profile>/deps");
    let path: PathBuf = profile.join("examples").join(example);
    assert!(path.exists(), "{} is missing: run `cargo build --example {example}` first", path.display());
    let mut command = Command::new(path);
    match server {
        Some(server) => command.env("REDIS_URL", server.url()),
        None => command.env_remove("REDIS_URL"),
    };
    let output = command.output().expect("the example starts");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}\n{stdout}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    stdout
}

/// Runs it in memory, and twice on a Redis of its own: as `fresh` says, and then as `known` says of a second run.
#[track_caller]
fn check(example: &str, fresh: &[&str], known: &[&str]) {
    let _alone = STAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let lines = |server| printed(example, server).lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(None), fresh, "in memory");
    let server = RedisServer::start().expect("a Redis");
    assert_eq!(lines(Some(&server)), fresh, "on a Redis");
    assert_eq!(lines(Some(&server)), known, "once more on that Redis");
}

#[test]
fn the_axum_service_answers_repeats_conflicts_and_mismatches_by_status() {
    let charge = |number, cents, replayed| {
        format!(r#"200 (idempotent-replayed: {replayed}) {{"charge":{number},"cents":{cents}}}"#)
    };
    let mismatch = "422 payments.charge: this key was used with other arguments";
    let unknown = "409 payments.charge: the outcome of an earlier attempt is unknown; nothing runs until it is settled";
    let answers = |replayed, one: &str, other: &str| {
        [
            format!("a first request: {}", charge(1, 4200, replayed)),
            format!("its repeat: {}", charge(1, 4200, true)),
            format!("the same key, another amount: {mismatch}"),
            format!("the same key, another tenant: {}", charge(2, 9900, replayed)),
            "without a key: 400 payments.charge: the idempotency key was refused".to_owned(),
            format!("two at once, the first: {one}"),
            format!("two at once, the second: {other}"),
            format!("a repeat after the time-out: {unknown}"),
        ]
    };
    let in_flight = "409 (retry-after: 5) payments.charge: another call with this key is in flight";
    let fresh = answers(false, "504 the gateway did not answer", in_flight);
    let known = answers(true, unknown, unknown);
    check("axum_service", &fresh.each_ref().map(String::as_str), &known.each_ref().map(String::as_str));
}

#[test]
fn the_repository_tells_errors_of_its_driver_from_those_of_idem() {
    check(
        "repository",
        &[
            "a first request: user 1 is ann@example.org",
            "its repeat: user 1 is ann@example.org",
            "the same request, another address: idem says Mismatch, HTTP 422",
            "an address that is taken: the database says: users_email_key is violated",
            "the same request, corrected: user 2 is bob@example.org",
            "without a connection: the database says: no connection in time",
            "its repeat, which runs: user 3 is cid@example.org",
            "rows: 3",
        ],
        &[
            "a first request: user 1 is ann@example.org",
            "its repeat: user 1 is ann@example.org",
            "the same request, another address: idem says Mismatch, HTTP 422",
            "an address that is taken: idem says Mismatch, HTTP 422",
            "the same request, corrected: user 2 is bob@example.org",
            "without a connection: user 3 is cid@example.org",
            "its repeat, which runs: user 3 is cid@example.org",
            "rows: 0",
        ],
    );
}

#[test]
fn the_queue_consumer_acknowledges_repeats_and_sets_mismatches_aside() {
    let mismatch = r#"with another amount: DeadLetter("Mismatch, nothing was done")"#;
    let unreadable = r#"without a month: DeadLetter("missing field `month` at line 1 column 40")"#;
    check(
        "queue_consumer",
        &[
            "  5000 cents are paid, by delivery 1",
            "a message: Ack",
            "delivered again: Ack",
            mismatch,
            "  5000 cents are paid, by delivery 1",
            "of another month: Ack",
            unreadable,
            "while the bank is closed: Nack(60s)",
            "  6000 cents are paid, by delivery 1",
            "delivered again when it is open: Ack",
            "  7000 cents are paid, by delivery 1",
            "to two consumers at once: Ack and Nack(500ms)",
            "paid: 23000 cents",
        ],
        &[
            "a message: Ack",
            "delivered again: Ack",
            mismatch,
            "of another month: Ack",
            unreadable,
            "while the bank is closed: Ack",
            "delivered again when it is open: Ack",
            "to two consumers at once: Ack and Ack",
            "paid: 0 cents",
        ],
    );
}

#[test]
fn the_webhook_marks_an_invoice_once_however_often_it_is_told() {
    check(
        "webhook",
        &[
            "a first delivery: 204",
            "its repeat: 204",
            "while nothing can be written: 503",
            "its repeat: 204",
            "without an id: 400",
            r#"paid: [("inv-1", 0), ("inv-2", 1)]"#,
        ],
        &[
            "a first delivery: 204",
            "its repeat: 204",
            "while nothing can be written: 204",
            "its repeat: 204",
            "without an id: 400",
            "paid: []",
        ],
    );
}

#[cfg(feature = "chrono")]
#[test]
fn the_nightly_job_runs_once_a_day_and_asks_after_a_crash() {
    check(
        "nightly_job",
        &[
            "  the bank gets a file of 2026-11-01",
            "two schedulers at once: file 1 and file 1",
            "  the bank gets a file of 2026-11-02",
            "a scheduler gives up waiting: the file was on its way",
            "it is started again: file 2",
            "  the bank gets a file of 2026-11-03",
            "a process dies: the file was on its way",
            "  the bank is asked for 2026-11-03",
            "it is started again: file 3",
        ],
        &[
            "two schedulers at once: file 1 and file 1",
            "a scheduler gives up waiting: it had ended before",
            "it is started again: file 2",
            "a process dies: it had ended before",
            "it is started again: file 3",
        ],
    );
}

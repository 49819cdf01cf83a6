//! Who acts in the stories about leases: an owner whose way to the server can be troubled, one who follows it, and looks at
//! the lease between them.

use std::time::Duration;

use idem::{Attempt, Call, Engine, Error, ErrorKind, Outcome, Policy};
use test_support::{Direction, Monitor, Proxy, RedisServer, Reply};

use crate::support::LEASE;
use crate::trouble::builder_at;

/// The record of [`job`].
pub(crate) const KEY: &str = "idem:{job::k}";

/// Short leases, long retention.
pub(crate) const fn short() -> Policy {
    Policy::new().lease(LEASE).retention(Duration::from_secs(60))
}

/// Short leases that are never renewed.
pub(crate) const fn unrenewed() -> Policy {
    short().max_run(Duration::from_millis(1))
}

pub(crate) fn job(engine: &Engine) -> Call {
    engine.operation("job").key("k").fingerprint(&())
}

/// A call of [`job`] that is dropped while its body runs.
pub(crate) async fn dies_in_its_body(engine: &Engine) {
    let (began, begins) = tokio::sync::oneshot::channel();
    let call = job(engine).run(async |_| {
        began.send(()).expect("somebody waits for it");
        std::future::pending::<Result<u32, Error>>().await
    });
    tokio::select! {
        _ = call => unreachable!("it never ends"),
        it_did = begins => it_did.expect("it began"),
    }
}

/// An engine whose way to the server can be troubled.
pub(crate) struct Remote {
    pub(crate) engine: Engine,
    pub(crate) proxy: Proxy,
}

impl Remote {
    pub(crate) fn new(server: &RedisServer, policy: Policy) -> Self {
        Self::bounded(server, policy, Duration::from_secs(1))
    }

    pub(crate) fn bounded(server: &RedisServer, policy: Policy, store_bound: Duration) -> Self {
        let proxy = Proxy::start(server.port()).expect("a proxy");
        let builder = builder_at(&proxy.url(), true).policy(policy).store_bound(store_bound);
        Self { engine: builder.build().expect("a valid policy"), proxy }
    }

    /// Nothing gets through, and nobody is told.
    pub(crate) fn part(&self) {
        self.proxy.black_hole(Direction::ToServer, true);
        self.proxy.black_hole(Direction::ToClient, true);
    }

    /// New connections get through. Those of before are gone: bytes do not get lost in the middle of one.
    pub(crate) fn mend(&self) {
        self.proxy.refuse(true);
        self.proxy.cut();
        self.proxy.black_hole(Direction::ToServer, false);
        self.proxy.black_hole(Direction::ToClient, false);
        self.proxy.refuse(false);
    }

    /// Connections break, and no new one is made.
    pub(crate) fn cut_off(&self) {
        self.proxy.refuse(true);
        self.proxy.cut();
    }
}

/// Calls until it runs, as a sender that repeats does, and completes with `value`.
pub(crate) async fn follow(engine: &Engine, value: u32) -> Attempt {
    loop {
        match try_to_follow(engine, value).await {
            Ok(attempt) => return attempt,
            Err(left) => tokio::time::sleep(left.min(Duration::from_millis(10))).await,
        }
    }
}

/// As [`follow`], from a server whose clock steps, so that it takes the lease for over. Its owner is still sure of it.
pub(crate) async fn usurp(server: &RedisServer, engine: &Engine, value: u32) -> Attempt {
    loop {
        let floor = floor(&crate::support::value(server, KEY).expect("a record")).to_string();
        server.command(&["PEXPIRE", KEY, &floor]).expect("PEXPIRE");
        // A renewal may come in between; then again.
        if let Ok(attempt) = try_to_follow(engine, value).await {
            return attempt;
        }
    }
}

/// One call, which runs or is told what is left of another's lease.
async fn try_to_follow(engine: &Engine, value: u32) -> Result<Attempt, Duration> {
    let mut ran = None;
    let call = job(engine).run(async |attempt| {
        ran = Some(attempt);
        Ok::<_, Error>(value)
    });
    match call.await {
        Ok(_) => Ok(ran.expect("it ran: nobody had completed")),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::InFlight);
            Err(error.retry_after().expect("what is left of the lease"))
        }
    }
}

/// A repeat, which must be answered from the record.
pub(crate) async fn replayed(engine: &Engine) -> u32 {
    let repeat = job(engine).run(async |_| -> Result<Outcome<u32>, Error> { panic!("runs again") });
    let outcome = repeat.await.expect("a replay");
    assert!(outcome.seen().expect("seen").is_replayed());
    outcome.into_inner()
}

/// The lease's end, in milliseconds before the record's.
fn floor(record: &[u8]) -> i64 {
    std::str::from_utf8(&record[62..75]).ok().and_then(|digits| digits.parse().ok()).expect("a record in flight")
}

/// What the server still grants of the lease under `key`, in milliseconds; `None` where nothing is in flight.
pub(crate) fn lease_left(server: &RedisServer, key: &str) -> Option<i64> {
    let look = "return {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}";
    match server.command(&["EVAL", look, "1", key]).expect("EVAL") {
        Reply::Array(seen) => match &seen[..] {
            [Reply::Bulk(Some(record)), Reply::Int(life)] if record.starts_with(b"1I") => Some(life - floor(record)),
            _ => None,
        },
        other => panic!("{other:?}"),
    }
}

/// How many renewals the server was asked for since the monitor began.
pub(crate) fn renewals(monitor: &Monitor) -> usize {
    let commands = monitor.client_commands().expect("the monitor");
    // `renew.lua` alone is handed a record in flight together with a flag.
    let is_renewal = |command: &&test_support::Command| {
        command.word(4).is_some_and(|record| record.starts_with("1I"))
            && command.word(6).is_some_and(|restore| restore == "0" || restore == "1")
    };
    commands.iter().filter(is_renewal).count()
}

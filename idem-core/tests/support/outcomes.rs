//! Brings about each outcome that a call can have, with marked keys, arguments, results and errors.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

use std::num::NonZeroU32;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use idem_core::expansion::Site;
use idem_core::metrics::{
    CONFLICTS, DUPLICATES_SUPPRESSED, EXHAUSTED, LEASES_LOST, MISMATCHES, RETRIES, STORE_ERRORS, TAKEOVERS, UNCERTAIN,
    UNDECODABLE, UNPROTECTED, UNRECORDED, VANISHED,
};
use idem_core::record::Corrupt;
use idem_core::store::{
    Claim, ClaimReply, Complete, CompleteReply, Release, ReleaseReply, Renew, RenewReply, StoreError,
};
use idem_core::{Call, Engine, Error, MemoryStore, OnOutage, OnUnrecorded, Policy, Store, with_engine};
use serde::{Deserialize, Serialize};
use tokio::time::{sleep, timeout};

use crate::watched::{Trouble, Watched, trouble};

pub const LEASE: Duration = Duration::from_secs(3);
pub const POLICY: Policy = Policy::new().lease(LEASE).valid();
pub const OPERATION: &str = "job";

/// What must show nowhere.
pub const KEY: &str = "marked-key";
pub const TENANT: &str = "marked-tenant";
pub const ARGUMENT: &str = "marked-argument";
pub const RESULT: &str = "marked-result";
pub const FAILURE: &str = "marked-failure";

/// How a scenario is called, how its calls end, and what else is counted.
pub type Row = (&'static str, &'static [&'static str], &'static [(&'static str, u64)]);

/// Every outcome there is, and what is worth a counter of its own.
pub const ALL: &[Row] = &[
    ("executed", &["executed"], &[]),
    ("failed", &["failed"], &[]),
    ("replayed", &["executed", "replayed"], &[(DUPLICATES_SUPPRESSED, 1)]),
    ("held", &["held"], &[(UNCERTAIN, 1)]),
    ("recovered", &["held", "recovered"], &[(UNCERTAIN, 1), (TAKEOVERS, 1)]),
    ("unprotected", &["unprotected"], &[(UNPROTECTED, 1), (STORE_ERRORS, 1)]),
    ("panicked", &["panicked"], &[]),
    ("dropped", &["dropped"], &[]),
    ("conflict", &["executed", "conflict"], &[(CONFLICTS, 1)]),
    ("mismatch", &["executed", "mismatch"], &[(MISMATCHES, 1)]),
    ("invalid_key", &["invalid_key"], &[]),
    ("uncertain", &["held", "uncertain"], &[(UNCERTAIN, 2)]),
    ("exhausted", &["failed", "exhausted"], &[(EXHAUSTED, 1)]),
    ("lease_lost", &["executed", "lease_lost"], &[(TAKEOVERS, 1), (LEASES_LOST, 1), (STORE_ERRORS, 1)]),
    ("store_error", &["store_error"], &[(STORE_ERRORS, 1)]),
    ("shut_down", &["shut_down"], &[]),
    ("unrecorded", &["unrecorded"], &[(UNRECORDED, 1), (STORE_ERRORS, 1)]),
    ("result_not_kept", &["executed", "result_not_kept"], &[]),
    ("undecodable", &["executed", "undecodable"], &[(UNDECODABLE, 1)]),
    ("corrupt", &["corrupt"], &[]),
    ("no_engine", &["no_engine"], &[]),
    ("config", &["config"], &[]),
    ("retry", &["failed", "executed"], &[(RETRIES, 1)]),
    ("takeover", &["dropped", "executed"], &[(TAKEOVERS, 1)]),
    ("vanished", &["executed"], &[(VANISHED, 1)]),
    ("returned unrecorded", &["executed"], &[(UNRECORDED, 1), (STORE_ERRORS, 1)]),
];

#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
pub enum Failed {
    #[error("{0}")]
    Own(String),
    #[error(transparent)]
    #[serde(skip)]
    Idem(#[from] Error),
}

impl Failed {
    const fn is_own(&self) -> bool {
        matches!(self, Self::Own(_))
    }
}

type Answer = Result<String, Failed>;

/// What a scenario left to be seen.
pub struct Played {
    /// Those of idem's own.
    pub errors: Vec<Error>,
    pub tokens: Vec<String>,
}

/// Plays a scenario.
pub async fn play(scenario: &str) -> Played {
    let store = Watched::new();
    let answers = match runs(scenario, &store).await {
        Some(answers) => answers,
        None => refuses(scenario, &store).await,
    };
    // What the keeper still has to send.
    sleep(LEASE * 2).await;
    let errors = answers.into_iter().filter_map(Result::err);
    let of_idem = errors.filter_map(|error| if let Failed::Idem(error) = error { Some(error) } else { None });
    let tokens = store.0.tokens.lock().expect("no panic under it").clone();
    Played { errors: of_idem.collect(), tokens }
}

/// The scenarios whose last call ran, or was answered.
async fn runs(scenario: &str, store: &Watched) -> Option<Vec<Answer>> {
    let engine = &store.engine(POLICY);
    Some(match scenario {
        "executed" => vec![ok(engine).await],
        "failed" => vec![fails(engine).await],
        "replayed" => vec![ok(engine).await, ok(engine).await],
        "held" => vec![held(engine).await],
        "recovered" => {
            let held = held(engine).await;
            let asking = call(engine).hold(Failed::is_own).recover(async || Ok(Some(RESULT.to_owned())));
            vec![held, asking.run(async |_| unreachable!("it was recovered")).await]
        }
        "unprotected" => {
            trouble(&store.0.claims, &[Trouble::Refused]);
            vec![ok(&store.engine(POLICY.on_outage(OnOutage::RunUnprotected))).await]
        }
        "panicked" => {
            let panics = call(engine).run(async |_| -> Answer { panic!("{FAILURE}") });
            AssertUnwindSafe(panics).catch_unwind().await.expect_err("the panic passes through");
            Vec::new()
        }
        "dropped" => {
            timeout(LEASE / 3, takes(engine, LEASE)).await.expect_err("it is dropped");
            Vec::new()
        }
        "retry" => vec![fails(engine).await, ok(engine).await],
        "takeover" => {
            timeout(LEASE / 3, takes(engine, LEASE)).await.expect_err("it is dropped");
            sleep(LEASE).await;
            vec![ok(engine).await]
        }
        "vanished" => vec![ok(&Saying::completes(CompleteReply::Restored)).await],
        "returned unrecorded" => {
            trouble(&store.0.completions, &[Trouble::Refused; 100]);
            vec![ok(engine).await]
        }
        _ => return None,
    })
}

/// The scenarios whose last call got an error of idem's own.
async fn refuses(scenario: &str, store: &Watched) -> Vec<Answer> {
    static SITE: Site = Site::new(OPERATION);
    let engine = &store.engine(POLICY);
    let result = async |call: Call| call.run(async |_| Ok(RESULT.to_owned())).await;
    match scenario {
        "uncertain" => vec![held(engine).await, ok(engine).await],
        "conflict" => <[Answer; 2]>::from(tokio::join!(takes(engine, LEASE), ok(engine))).into(),
        "mismatch" => vec![ok(engine).await, result(call(engine).fingerprint(&"other")).await],
        "invalid_key" => vec![result(engine.operation(OPERATION).key("").scope(TENANT).fingerprint(ARGUMENT)).await],
        "exhausted" => {
            let engine = &store.engine(POLICY.max_attempts(NonZeroU32::MIN));
            vec![fails(engine).await, ok(engine).await]
        }
        "lease_lost" => {
            trouble(&store.0.renewals, &[Trouble::Refused; 100]);
            let follower = async {
                sleep(LEASE + LEASE / 10).await;
                ok(&store.engine(POLICY)).await
            };
            <[Answer; 2]>::from(tokio::join!(takes(engine, LEASE * 2), follower)).into()
        }
        "store_error" => {
            trouble(&store.0.claims, &[Trouble::Refused]);
            vec![ok(engine).await]
        }
        "shut_down" => {
            engine.shutdown(Duration::ZERO).await;
            vec![ok(engine).await]
        }
        "unrecorded" => {
            trouble(&store.0.completions, &[Trouble::Refused; 100]);
            vec![ok(&store.engine(POLICY.on_unrecorded(OnUnrecorded::Fail))).await]
        }
        "result_not_kept" => {
            let engine = &store.engine(POLICY.max_result(1));
            vec![ok(engine).await, ok(engine).await]
        }
        "undecodable" => {
            let text = ok(engine).await;
            let number = call(engine).run(async |_| Ok::<u32, Failed>(1)).await;
            vec![text, number.map(|number| number.to_string())]
        }
        "corrupt" => vec![ok(&Saying::claims(ClaimReply::Corrupt(Corrupt::Unreadable))).await],
        "no_engine" => vec![result(SITE.call().key(KEY).scope(TENANT).fingerprint(ARGUMENT)).await],
        "config" => {
            let invalid = Policy::new().lease(Duration::ZERO);
            vec![result(engine.operation(OPERATION).policy(invalid).key(KEY).fingerprint(ARGUMENT)).await]
        }
        unknown => unreachable!("no such scenario: {unknown}"),
    }
}

pub fn call(engine: &Engine) -> Call {
    engine.operation(OPERATION).key(KEY).scope(TENANT).fingerprint(ARGUMENT)
}

async fn ok(engine: &Engine) -> Answer {
    takes(engine, Duration::ZERO).await
}

async fn takes(engine: &Engine, time: Duration) -> Answer {
    let run = call(engine).run(async |_| {
        sleep(time).await;
        Ok(RESULT.to_owned())
    });
    // As the attribute finds it.
    with_engine(engine.clone(), run).await
}

async fn fails(engine: &Engine) -> Answer {
    call(engine).run(async |_| Err(Failed::Own(FAILURE.to_owned()))).await
}

async fn held(engine: &Engine) -> Answer {
    call(engine).hold(Failed::is_own).run(async |_| Err(Failed::Own(FAILURE.to_owned()))).await
}

/// A memory store that gives one reply in its own way.
#[derive(Debug, Default)]
struct Saying {
    store: MemoryStore,
    claim: Mutex<Option<ClaimReply>>,
    complete: Mutex<Option<CompleteReply>>,
}

#[derive(Debug, Clone)]
struct SayingStore(Arc<Saying>);

impl Saying {
    fn claims(reply: ClaimReply) -> Engine {
        Engine::new(SayingStore(Arc::new(Self { claim: Mutex::new(Some(reply)), ..Self::default() })))
    }

    fn completes(reply: CompleteReply) -> Engine {
        Engine::new(SayingStore(Arc::new(Self { complete: Mutex::new(Some(reply)), ..Self::default() })))
    }
}

impl Store for SayingStore {
    async fn claim(&self, request: &Claim) -> Result<ClaimReply, StoreError> {
        let said = self.0.claim.lock().expect("no panic under it").take();
        if let Some(reply) = said { Ok(reply) } else { self.0.store.claim(request).await }
    }

    async fn renew(&self, request: &Renew) -> Result<RenewReply, StoreError> {
        self.0.store.renew(request).await
    }

    async fn complete(&self, request: &Complete) -> Result<CompleteReply, StoreError> {
        let said = self.0.complete.lock().expect("no panic under it").take();
        if let Some(reply) = said { Ok(reply) } else { self.0.store.complete(request).await }
    }

    async fn release(&self, request: &Release) -> Result<ReleaseReply, StoreError> {
        self.0.store.release(request).await
    }

    rest_as!(store);
}

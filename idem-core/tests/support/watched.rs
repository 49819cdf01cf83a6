//! A memory store that can be troubled.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

#[macro_use]
#[path = "rest.rs"]
mod rest;

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use idem_core::store::{
    Claim, ClaimReply, Complete, CompleteReply, Release, ReleaseReply, Renew, RenewReply, Store, StoreError,
};
use idem_core::{Engine, MemoryStore, Policy};
use tokio::time::{Instant, sleep};

/// What becomes of the next step of a kind. Where none is left, steps work.
#[derive(Debug, Clone, Copy)]
pub enum Trouble {
    /// It is done, and answered this much later.
    AnsweredLate(Duration),
    /// It is done this much later, and then answered.
    DoneLate(Duration),
    /// It is not done, and the client is told.
    Refused,
    /// It is not done, and the client is not told.
    Unheard,
}

/// A memory store that can be troubled, and remembers when it was asked to renew and to release.
#[derive(Clone)]
pub struct Watched(pub Arc<Inner>);

pub struct Inner {
    store: MemoryStore,
    began: Instant,
    pub claims: Mutex<Vec<Trouble>>,
    pub renewals: Mutex<Vec<Trouble>>,
    pub completions: Mutex<Vec<Trouble>>,
    pub releases: Mutex<Vec<Trouble>>,
    renewed: Mutex<Vec<Duration>>,
    /// The proofs of ownership that claims were made under.
    pub tokens: Mutex<Vec<String>>,
}

impl Watched {
    pub fn new() -> Self {
        Self(Arc::new(Inner {
            store: MemoryStore::new(),
            began: Instant::now(),
            claims: Mutex::default(),
            renewals: Mutex::default(),
            completions: Mutex::default(),
            releases: Mutex::default(),
            renewed: Mutex::default(),
            tokens: Mutex::default(),
        }))
    }

    pub fn engine(&self, policy: Policy) -> Engine {
        Engine::builder(self.clone())
            .policy(policy)
            .store_bound(Duration::from_secs(60))
            .build()
            .expect("a valid policy")
    }

    /// When renewals were asked for, after the start.
    pub fn renewed(&self) -> Vec<Duration> {
        self.0.renewed.lock().expect("no panic under it").clone()
    }
}

pub fn trouble(troubles: &Mutex<Vec<Trouble>>, next: &[Trouble]) {
    *troubles.lock().expect("no panic under it") = next.iter().rev().copied().collect();
}

async fn troubled<R>(
    troubles: &Mutex<Vec<Trouble>>,
    step: impl Future<Output = Result<R, StoreError>>,
) -> Result<R, StoreError> {
    let next = troubles.lock().expect("no panic under it").pop();
    match next {
        None => step.await,
        Some(Trouble::AnsweredLate(late)) => {
            let answer = step.await;
            sleep(late).await;
            answer
        }
        Some(Trouble::DoneLate(late)) => {
            sleep(late).await;
            step.await
        }
        Some(Trouble::Refused) => Err(StoreError::Unavailable("refused".into())),
        Some(Trouble::Unheard) => std::future::pending().await,
    }
}

impl Store for Watched {
    async fn claim(&self, request: &Claim) -> Result<ClaimReply, StoreError> {
        let token = String::from_utf8_lossy(&request.token.to_text()).into_owned();
        self.0.tokens.lock().expect("no panic under it").push(token);
        troubled(&self.0.claims, self.0.store.claim(request)).await
    }

    async fn renew(&self, request: &Renew) -> Result<RenewReply, StoreError> {
        self.0.renewed.lock().expect("no panic under it").push(self.0.began.elapsed());
        troubled(&self.0.renewals, self.0.store.renew(request)).await
    }

    async fn complete(&self, request: &Complete) -> Result<CompleteReply, StoreError> {
        troubled(&self.0.completions, self.0.store.complete(request)).await
    }

    async fn release(&self, request: &Release) -> Result<ReleaseReply, StoreError> {
        troubled(&self.0.releases, self.0.store.release(request)).await
    }

    rest_as!(store);
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watched")
    }
}

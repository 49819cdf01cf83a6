//! A claim that was won: [`Claimed`], as its body and its keeper see it.

use crate::clock::Instant;
use crate::engine::Engine;
use crate::instruments::Instruments;
use crate::lease::Lease;
use crate::metrics;
use crate::record::{Ending, Kept, Origin};
use crate::request::Request;
use crate::store::{Claim, Complete, GivenUp, Grant, Owner, Release, Renew, RenewReply};
use std::sync::Arc;
use std::time::Duration;

/// A claim that was won, as its body, its keeper and its end see it.
pub(crate) struct Claimed {
    request: Request,
    claim: Claim,
    grant: Grant,
    lease: Lease,
    instruments: Arc<Instruments>,
    /// Whether there is a claim at all: not where the body runs without a store.
    is_protected: bool,
}

impl Claimed {
    pub(crate) fn new(
        request: Request,
        claim: Claim,
        grant: Grant,
        lease: Lease,
        instruments: Arc<Instruments>,
    ) -> Self {
        Self { request, claim, grant, lease, instruments, is_protected: true }
    }

    /// What stands for a claim where there is no store to make one.
    pub(crate) fn unprotected(request: Request, instruments: Arc<Instruments>) -> Self {
        let claim = request.claim();
        let grant = Grant { fence: claim.proposed, attempt: 0, origin: Origin::First };
        let lease = Lease::since(Instant::now(), 0);
        Self { request, claim, grant, lease, instruments, is_protected: false }
    }

    pub(crate) fn is_protected(&self) -> bool {
        self.is_protected
    }

    pub(crate) fn grant(&self) -> &Grant {
        &self.grant
    }

    pub(crate) fn request(&self) -> &Request {
        &self.request
    }

    pub(crate) fn instruments(&self) -> &Arc<Instruments> {
        &self.instruments
    }

    /// The request that gives this claim up with nothing run under it.
    pub(crate) fn retract(&self) -> Release {
        self.request.retract(self.claim.token)
    }

    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }

    pub(crate) fn operation(&self) -> &str {
        self.request.operation.name()
    }

    fn owner(&self) -> Owner {
        Owner { token: self.claim.token, fence: self.grant.fence }
    }

    /// Asks the store once for another lease. `None` without a clear answer within `bound`.
    pub(crate) async fn renew(&self, engine: &Engine, bound: Duration) -> Option<RenewReply> {
        let request = Renew::of(self.claim.clone(), self.grant, !self.lease.remaining().is_zero());
        let answer = engine.bounded(self.instruments.store(), "renew", bound, engine.store().renew(&request)).await;
        answer.inspect_err(|error| self.instruments.store_error("renew", error)).ok()
    }

    /// Tells the holder what a renewal that was sent at `sent` came to.
    pub(crate) fn hear(&self, reply: RenewReply, sent: Instant) {
        match reply {
            RenewReply::Renewed => self.lease.extend(sent),
            RenewReply::Reasserted => {
                self.lease.extend(sent);
                self.note_vanished();
            }
            RenewReply::Lost => self.lose(),
            RenewReply::Absent | RenewReply::Uncertain | RenewReply::Corrupt(_) => {}
        }
    }

    pub(crate) fn warn_of_doubt(&self) {
        tracing::warn!(
            operation = self.operation(),
            fence = self.grant.fence.get(),
            "a running body's lease could not be renewed in time; whether it still holds is unknown"
        );
    }

    pub(crate) fn lose(&self) {
        if self.lease.lose() {
            self.instruments.add_one(metrics::LEASES_LOST);
            tracing::warn!(
                operation = self.operation(),
                fence = self.grant.fence.get(),
                "a running body's lease was lost to another call"
            );
        }
    }

    pub(crate) fn note_vanished(&self) {
        self.lease.note_vanished();
        self.instruments.add_one(metrics::VANISHED);
        tracing::warn!(
            operation = self.operation(),
            fence = self.grant.fence.get(),
            "the store lost a claim's record; it was written again"
        );
    }

    /// The request that gives this claim up after its body ran.
    pub(crate) fn give_up(&self, given_up: GivenUp) -> Release {
        self.request.give_up(self.claim.token, &self.grant, given_up)
    }

    /// The request that settles this claim with `kept`.
    pub(crate) fn complete(&self, ending: Ending, kept: Kept) -> Complete {
        Complete {
            operation: self.request.operation.clone(),
            owner: self.owner(),
            attempt: self.grant.attempt,
            fingerprint: self.request.fingerprint,
            ending,
            kept,
            retention: self.request.policy.retention_millis(),
            restore: true,
        }
    }
}

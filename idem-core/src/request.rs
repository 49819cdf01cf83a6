//! A checked call, and what it asks of the store.

use crate::clock;
use crate::fingerprint::Fingerprint;
use crate::operation::Operation;
use crate::policy::Policy;
use crate::record::{Fence, Token};
use crate::store::{Claim, GivenUp, Grant, OnCrash, Release};

/// A checked call.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) operation: Operation,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) policy: Policy,
    /// What to do about an attempt that ended without an answer: the policy's choice, or to ask, where the operation can.
    pub(crate) on_crash: OnCrash,
    /// Whether an error may leave the outcome unknown.
    pub(crate) may_hold: bool,
}

impl Request {
    /// A claim for it, under a token and a fence of its own.
    pub(crate) fn claim(&self) -> Claim {
        Claim {
            operation: self.operation.clone(),
            fingerprint: self.fingerprint,
            token: Token::random(),
            proposed: clock::proposed_fence(),
            lease: self.policy.lease_millis(),
            linger: self.linger_millis(),
            on_crash: self.on_crash,
            max_attempts: self.policy.attempts(),
        }
    }

    /// The release of a claim under which nothing ran. What it found is remembered as it would have been without it.
    pub(crate) fn retract(&self, token: Token) -> Release {
        self.release(token, None, GivenUp::Released, self.linger_millis())
    }

    /// The release of the claim that was granted so, after its body ran. That an attempt was taken over is remembered for
    /// longer than an ordinary failure may be.
    pub(crate) fn give_up(&self, token: Token, grant: &Grant, given_up: GivenUp) -> Release {
        let retention = self.policy.release_millis();
        let retention = if grant.origin.follows_takeover() { retention.max(self.linger_millis()) } else { retention };
        self.release(token, Some(grant.fence), given_up, retention)
    }

    fn release(&self, token: Token, fence: Option<Fence>, given_up: GivenUp, retention: u64) -> Release {
        Release { operation: self.operation.clone(), token, fence, given_up, retention }
    }

    fn linger_millis(&self) -> u64 {
        self.policy.linger_millis(self.may_hold || self.on_crash != OnCrash::Rerun)
    }
}

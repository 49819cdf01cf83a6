//! A checked call, and what it asks of the store.

use crate::clock;
use crate::fingerprint::Fingerprint;
use crate::operation::Operation;
use crate::policy::Policy;
use crate::record::{Fence, Token};
use crate::store::{Claim, GivenUp, OnCrash, Release};

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
            linger: self.policy.linger_millis(self.may_hold || self.on_crash != OnCrash::Rerun),
            on_crash: self.on_crash,
            max_attempts: self.policy.attempts(),
        }
    }

    /// The release of a claim under which nothing ran.
    pub(crate) fn retract(&self, token: Token) -> Release {
        self.release(token, None, GivenUp::Released)
    }

    pub(crate) fn release(&self, token: Token, fence: Option<Fence>, given_up: GivenUp) -> Release {
        let retention = self.policy.release_millis();
        Release { operation: self.operation.clone(), token, fence, given_up, retention }
    }
}

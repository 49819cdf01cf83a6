//! What a policy lets a call do where there is more than one right answer. (About a crash: [`OnCrash`](crate::OnCrash), which
//! a store is told as well.)

use std::time::Duration;

/// What becomes of a body whose lease is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnLoss {
    /// It is dropped at its next await, and the call ends with [`LeaseLost`](crate::ErrorKind::LeaseLost).
    Cancel,
    /// It goes on. It can ask [`Attempt::lost`](crate::Attempt::lost).
    RunOn,
}

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

/// What a call does while another one with its key runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnConflict {
    /// It ends at once with [`InFlight`](crate::ErrorKind::InFlight).
    Refuse,
    /// It waits for the other's end for at most this long: then it is answered from its result, or takes its turn. Else it
    /// ends with [`InFlight`](crate::ErrorKind::InFlight). It asks the store again and again, less and less often: up to 20
    /// commands a second.
    Wait(Duration),
}

/// What a call does without a store that could say whether it ran before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnOutage {
    /// It ends with [`Store`](crate::ErrorKind::Store); the body does not run.
    Refuse,
    /// The body runs, unprotected: nobody else is kept from running it too, nothing is kept, and nothing is known of earlier
    /// attempts, so no crash is refused or asked about and no limit of attempts counts. Counted and logged.
    RunUnprotected,
}

/// What a call does with a result that could not be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnUnrecorded {
    /// It returns it, marked as unrecorded ([`Seen::is_recorded`](crate::Seen::is_recorded)). Counted and logged.
    Return,
    /// It ends with [`Unrecorded`](crate::ErrorKind::Unrecorded), which carries the value
    /// ([`Error::value`](crate::Error::value)).
    Fail,
}

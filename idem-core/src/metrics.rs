//! What is counted. Labels are closed words and the operation's name; never a key, a scope or an error's text.

use std::borrow::Cow;

use metrics::{SharedString, counter, gauge};

use crate::store::{StoreError, StoreErrorKind};

/// Calls that ended, by `operation` and `outcome`: `executed`, `failed` (the body's own error), `replayed`, or the word of
/// an error's kind. A call that was dropped before its end gives none.
pub const CALLS: &str = "idem_calls_total";
/// Repeats answered from the kept result instead of running again, by `operation`.
pub const DUPLICATES_SUPPRESSED: &str = "idem_duplicates_suppressed_total";
/// Calls refused because another one with their key was in flight, by `operation`.
pub const CONFLICTS: &str = "idem_conflicts_total";
/// Calls refused because their key was used with other arguments, by `operation`.
pub const MISMATCHES: &str = "idem_mismatches_total";
/// Claims of an identity whose previous holder's lease had run out, by `operation`.
pub const TAKEOVERS: &str = "idem_takeovers_total";
/// Records that must have been there and were not: the server lost them; by `operation`.
pub const VANISHED: &str = "idem_vanished_total";
/// Calls that met an outcome that nobody knows, or left one, by `operation`.
pub const UNCERTAIN: &str = "idem_uncertain_total";
/// Calls refused because there were as many attempts as are allowed, by `operation`.
pub const EXHAUSTED: &str = "idem_exhausted_total";
/// Bodies that ran without a store to protect them, by `operation`.
pub const UNPROTECTED: &str = "idem_unprotected_total";
/// Signs that a server may have lost records unseen, by `reason`: `restart` (another run id), `failover` (another
/// replication id) or `eviction` (it evicted keys).
pub const STORE_EPOCHS: &str = "idem_store_epochs_total";
/// Results that were returned to their caller but could not be recorded, by `operation`.
pub const UNRECORDED: &str = "idem_unrecorded_total";
/// Calls that lost their lease to another call, by `operation`.
pub const LEASES_LOST: &str = "idem_leases_lost_total";
/// Store calls without a clear answer, by `operation`, `op` (the verb) and `kind`.
pub const STORE_ERRORS: &str = "idem_store_errors_total";
/// Bodies that run now, by `operation`.
pub const IN_FLIGHT: &str = "idem_in_flight";

/// The counters of one operation.
#[derive(Clone)]
pub(crate) struct Counters(SharedString);

impl Counters {
    pub(crate) fn of(operation: Cow<'static, str>) -> Self {
        Self(operation.into())
    }

    pub(crate) fn call(&self, outcome: &'static str) {
        counter!(CALLS, "operation" => self.0.clone(), "outcome" => outcome).increment(1);
    }

    pub(crate) fn add_one(&self, name: &'static str) {
        counter!(name, "operation" => self.0.clone()).increment(1);
    }

    pub(crate) fn store_error(&self, verb: &'static str, error: &StoreError) {
        let kind = StoreErrorKind::as_str(error.kind());
        counter!(STORE_ERRORS, "operation" => self.0.clone(), "op" => verb, "kind" => kind).increment(1);
    }

    /// Counts a body as running until the guard is dropped, however the body ends.
    pub(crate) fn running(&self) -> Running {
        gauge!(IN_FLIGHT, "operation" => self.0.clone()).increment(1.0);
        Running(self.0.clone())
    }
}

/// See [`Counters::running`].
pub(crate) struct Running(SharedString);

impl Drop for Running {
    fn drop(&mut self) {
        gauge!(IN_FLIGHT, "operation" => self.0.clone()).decrement(1.0);
    }
}

//! What an operation is run with: how long claims hold and results stay, and how large a result may be.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::choices::{OnConflict, OnLoss, OnOutage, OnUnrecorded};
use crate::lease::Loss;
use crate::protocol::UNCERTAIN_LINGER;
use crate::store::OnCrash;

/// How an operation is run. The engine has one for all; an operation may have its own.
///
/// Setters are `const` and take any value; a policy is checked where it is put to use: by
/// [`EngineBuilder::build`](crate::EngineBuilder::build), at the first call (an error of kind
/// [`Config`](crate::ErrorKind::Config), nothing runs), or by [`valid`](Self::valid) at compile time.
///
/// ```
/// use idem_core::Policy;
/// use std::time::Duration;
///
/// const CHARGES: Policy =
///     Policy::new().lease(Duration::from_secs(10)).retention(Duration::from_secs(7 * 86_400)).valid();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    lease: Duration,
    retention: Duration,
    max_result: usize,
    max_run: Option<Duration>,
    on_lost: OnLoss,
    on_doubt: OnLoss,
    on_crash: OnCrash,
    on_conflict: OnConflict,
    on_outage: OnOutage,
    on_unrecorded: OnUnrecorded,
    max_attempts: Option<NonZeroU32>,
    release_retention: Option<Duration>,
}

impl Policy {
    /// The shortest lease.
    pub const MIN_LEASE: Duration = Duration::from_millis(100);
    /// The longest lease and retention: ten years.
    pub const MAX_DURATION: Duration = Duration::from_secs(10 * 365 * 86_400);

    /// The defaults: a lease of 30 s, a retention of 24 h, results of up to 1 MiB.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            lease: Duration::from_secs(30),
            retention: Duration::from_secs(86_400),
            max_result: 1 << 20,
            max_run: None,
            on_lost: OnLoss::Cancel,
            on_doubt: OnLoss::RunOn,
            on_crash: OnCrash::Rerun,
            on_conflict: OnConflict::Refuse,
            on_outage: OnOutage::Refuse,
            on_unrecorded: OnUnrecorded::Return,
            max_attempts: None,
            release_retention: None,
        }
    }

    /// How long a claim holds: after that long without a sign of life its holder counts as crashed, and the next call
    /// takes over. From 100 ms to ten years, in whole milliseconds (rounded up).
    #[must_use]
    pub const fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// How long a kept result answers repeats. From 1 ms to ten years, in whole milliseconds (rounded up).
    #[must_use]
    pub const fn retention(mut self, retention: Duration) -> Self {
        self.retention = retention;
        self
    }

    /// The largest encoded result, in bytes, that is kept. A larger one still reaches its own caller; repeats get
    /// [`ResultNotKept`](crate::ErrorKind::ResultNotKept).
    #[must_use]
    pub const fn max_result(mut self, bytes: usize) -> Self {
        self.max_result = bytes;
        self
    }

    /// For how long a claim is renewed, for bodies that may hang: after that the lease runs out, and the next call takes
    /// over. Default: for as long as the body runs.
    #[must_use]
    pub const fn max_run(mut self, max_run: Duration) -> Self {
        self.max_run = Some(max_run);
        self
    }

    /// What becomes of a body after another call followed it. Default: [`Cancel`](OnLoss::Cancel). What it would still
    /// complete with is refused in any case.
    #[must_use]
    pub const fn on_lost(mut self, then: OnLoss) -> Self {
        self.on_lost = then;
        self
    }

    /// What becomes of a body whose lease is over by its own count, while the store cannot be asked. Default:
    /// [`RunOn`](OnLoss::RunOn): nobody may have followed, and the completion decides. Cancelling instead turns an outage
    /// of the store into an unknown outcome for each body that runs. A body that is cancelled in doubt is cancelled after a
    /// loss as well.
    #[must_use]
    pub const fn on_doubt(mut self, then: OnLoss) -> Self {
        self.on_doubt = then;
        self
    }

    /// What a call does about an earlier attempt whose lease ran out: it may have had its effect. Default:
    /// [`Rerun`](OnCrash::Rerun). The policy of the call that meets such an attempt decides, not the one it ran under.
    ///
    /// An operation that can ask ([`recover`](crate::Call::recover)) does, whatever is chosen here. To one that cannot,
    /// [`Recover`](OnCrash::Recover) is a [`Config`](crate::ErrorKind::Config) error.
    #[must_use]
    pub const fn on_crash(mut self, then: OnCrash) -> Self {
        self.on_crash = then;
        self
    }

    /// What a call does while another one with its key runs. Default: [`Refuse`](OnConflict::Refuse).
    #[must_use]
    pub const fn on_conflict(mut self, then: OnConflict) -> Self {
        self.on_conflict = then;
        self
    }

    /// What a call does without a store. Default: [`Refuse`](OnOutage::Refuse).
    #[must_use]
    pub const fn on_outage(mut self, then: OnOutage) -> Self {
        self.on_outage = then;
        self
    }

    /// What a call does with a value that could not be recorded. Default: [`Return`](OnUnrecorded::Return). An error of the
    /// body's own is returned in any case, and so is the value of a body that ran unprotected.
    #[must_use]
    pub const fn on_unrecorded(mut self, then: OnUnrecorded) -> Self {
        self.on_unrecorded = then;
        self
    }

    /// No attempt follows after this many: the call ends with [`Exhausted`](crate::ErrorKind::Exhausted). Nothing is
    /// written, so that a greater number works at once. Default: no limit. Counts are kept up to 262 143.
    #[must_use]
    pub const fn max_attempts(mut self, attempts: NonZeroU32) -> Self {
        self.max_attempts = Some(attempts);
        self
    }

    /// How long an attempt that gave up unfinished is remembered: its number, its fence, and the arguments that its key is
    /// bound to. Default: the retention; at least twice the lease, and after a takeover as long as an unfinished claim is
    /// remembered.
    #[must_use]
    pub const fn release_retention(mut self, retention: Duration) -> Self {
        self.release_retention = Some(retention);
        self
    }

    /// Checks the values, for those that come from a configuration.
    ///
    /// # Errors
    ///
    /// [`ConfigError`], naming the first value that is out of its bounds.
    pub const fn validate(&self) -> Result<(), ConfigError> {
        if less(self.lease, Self::MIN_LEASE) {
            Err(ConfigError::LeaseTooShort)
        } else if less(Self::MAX_DURATION, self.lease) {
            Err(ConfigError::LeaseTooLong)
        } else if self.retention.is_zero() {
            Err(ConfigError::RetentionZero)
        } else if less(Self::MAX_DURATION, self.retention) {
            Err(ConfigError::RetentionTooLong)
        } else if let Some(max_run) = self.max_run
            && less(Self::MAX_DURATION, max_run)
        {
            Err(ConfigError::MaxRunTooLong)
        } else if let Some(retention) = self.release_retention
            && less(Self::MAX_DURATION, retention)
        {
            Err(ConfigError::RetentionTooLong)
        } else if let OnConflict::Wait(limit) = self.on_conflict
            && less(Self::MAX_DURATION, limit)
        {
            Err(ConfigError::WaitTooLong)
        } else {
            Ok(())
        }
    }

    /// This policy, if its values are valid. For constants: what is wrong is then a compile error.
    ///
    /// # Panics
    ///
    /// If [`validate`](Self::validate) fails.
    #[must_use]
    pub const fn valid(self) -> Self {
        match self.validate() {
            Ok(()) => self,
            Err(ConfigError::LeaseTooShort) => panic!("the lease is shorter than 100 ms"),
            Err(ConfigError::LeaseTooLong) => panic!("the lease is longer than ten years"),
            Err(ConfigError::RetentionZero) => panic!("the retention is zero"),
            Err(ConfigError::RetentionTooLong) => panic!("the retention is longer than ten years"),
            Err(ConfigError::MaxRunTooLong) => panic!("max_run is longer than ten years"),
            Err(ConfigError::WaitTooLong) => panic!("the limit on waiting is longer than ten years"),
            // Of an operation or the engine, not of a policy.
            Err(ConfigError::NothingToAsk) => panic!("the operation has no `recover`"),
            Err(ConfigError::StoreBound) => panic!("the bound on store calls is out of its bounds"),
        }
    }

    pub(crate) fn lease_millis(&self) -> u64 {
        millis(self.lease)
    }

    pub(crate) fn retention_millis(&self) -> u64 {
        millis(self.retention)
    }

    /// How long an unfinished claim is remembered: long enough for its end to be seen as a crash, and where its outcome may
    /// become uncertain, for a person to see it.
    pub(crate) fn linger_millis(&self, may_be_uncertain: bool) -> u64 {
        let linger = self.retention_millis().max(2 * self.lease_millis());
        if may_be_uncertain { linger.max(UNCERTAIN_LINGER) } else { linger }
    }

    pub(crate) fn release_millis(&self) -> u64 {
        millis(self.release_retention.unwrap_or(self.retention)).max(2 * self.lease_millis())
    }

    pub(crate) const fn crash(&self) -> OnCrash {
        self.on_crash
    }

    pub(crate) const fn conflict(&self) -> OnConflict {
        self.on_conflict
    }

    pub(crate) const fn outage(&self) -> OnOutage {
        self.on_outage
    }

    pub(crate) const fn unrecorded(&self) -> OnUnrecorded {
        self.on_unrecorded
    }

    pub(crate) fn attempts(&self) -> Option<u32> {
        self.max_attempts.map(NonZeroU32::get)
    }

    pub(crate) const fn renewed_for(&self) -> Option<Duration> {
        self.max_run
    }

    /// The least loss that ends a body; `None` if none does.
    pub(crate) const fn cancelled_by(&self) -> Option<Loss> {
        match (self.on_doubt, self.on_lost) {
            (OnLoss::Cancel, _) => Some(Loss::Doubtful),
            (OnLoss::RunOn, OnLoss::Cancel) => Some(Loss::Lost),
            (OnLoss::RunOn, OnLoss::RunOn) => None,
        }
    }

    pub(crate) const fn max_result_bytes(&self) -> usize {
        self.max_result
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::new()
    }
}

/// A value of a [`Policy`] or of an [`EngineBuilder`](crate::EngineBuilder) that is out of its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The lease is below [`Policy::MIN_LEASE`].
    #[error("the lease is shorter than 100 ms")]
    LeaseTooShort,
    /// The lease is above [`Policy::MAX_DURATION`].
    #[error("the lease is longer than ten years")]
    LeaseTooLong,
    /// The retention is zero.
    #[error("the retention is zero")]
    RetentionZero,
    /// The retention is above [`Policy::MAX_DURATION`].
    #[error("the retention is longer than ten years")]
    RetentionTooLong,
    /// The limit on how long a claim is renewed is above [`Policy::MAX_DURATION`].
    #[error("max_run is longer than ten years")]
    MaxRunTooLong,
    /// The limit on waiting for another call is above [`Policy::MAX_DURATION`].
    #[error("the limit on waiting is longer than ten years")]
    WaitTooLong,
    /// A crash is to be recovered from by an operation that cannot ask what became of it.
    #[error("on_crash is `Recover`, but the operation has no `recover`")]
    NothingToAsk,
    /// The bound on store calls is below 10 ms or above an hour.
    #[error("the bound on store calls is below 10 ms or above an hour")]
    StoreBound,
}

/// `a < b`: the operator is no `const fn` yet.
const fn less(a: Duration, b: Duration) -> bool {
    a.as_nanos() < b.as_nanos()
}

/// Whole milliseconds, rounded up, so that no positive duration becomes zero.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_millis(300);

    #[test]
    fn impossible_durations_are_refused_when_the_policy_is_checked() {
        let lease = |lease| Policy::new().lease(lease).validate();
        let retention = |retention| Policy::new().retention(retention).validate();
        assert_eq!(lease(Duration::ZERO), Err(ConfigError::LeaseTooShort));
        assert_eq!(lease(Duration::from_millis(99)), Err(ConfigError::LeaseTooShort));
        assert_eq!(retention(Duration::ZERO), Err(ConfigError::RetentionZero));
        for endless in [
            Duration::MAX,
            Duration::from_secs(u64::MAX),
            Duration::from_millis(i64::MAX.unsigned_abs()),
            Policy::MAX_DURATION + Duration::from_nanos(1),
        ] {
            assert_eq!(lease(endless), Err(ConfigError::LeaseTooLong));
            assert_eq!(retention(endless), Err(ConfigError::RetentionTooLong));
        }
        assert_eq!(Policy::new().max_run(Duration::MAX).validate(), Err(ConfigError::MaxRunTooLong));
        assert_eq!(lease(Policy::MAX_DURATION), Ok(()));
        assert_eq!(retention(Policy::MAX_DURATION), Ok(()));
    }

    #[test]
    fn durations_below_a_millisecond_are_rounded_up() {
        for (nanos, expected) in [(1, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2), (250_000_000, 250)] {
            let policy = Policy::new().retention(Duration::from_nanos(nanos));
            assert_eq!(policy.validate(), Ok(()));
            assert_eq!(policy.retention_millis(), expected);
        }
    }

    #[test]
    fn an_unfinished_claim_is_remembered_beyond_its_lease() {
        let linger = |retention| Policy::new().lease(LEASE).retention(retention).linger_millis(false);
        assert_eq!(linger(Duration::from_millis(1)), 600);
        assert_eq!(linger(Duration::from_secs(60)), 60_000);
    }
}

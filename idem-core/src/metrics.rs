//! What is measured: every metric of idem, its labels and its help text, here and nowhere else.
//!
//! They go through the facade [`metrics`](https://docs.rs/metrics), to whatever recorder the application installs. Labels
//! are closed words and the operation's name; never a key, a scope or an error's text.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

/// One metric, as [`ALL`] lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metric {
    /// Its name, as exporters show it.
    pub name: &'static str,
    /// What it is.
    pub kind: MetricKind,
    /// The labels that each of its series has.
    pub labels: &'static [&'static str],
    /// What it tells.
    pub help: &'static str,
    unit: Unit,
}

/// What a [`Metric`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MetricKind {
    /// It only rises.
    Counter,
    /// It rises and falls.
    Gauge,
    /// It tells how its values are spread.
    Histogram,
}

/// One constant per metric, documented by its own help text, and the list of all.
macro_rules! metrics {
    ($($constant:ident: $kind:ident = $name:literal [$($label:literal),*] $unit:ident, $help:literal;)*) => {
        $(#[doc = $help] pub const $constant: &str = $name;)*

        /// Every metric there is.
        pub const ALL: &[Metric] = &[$(Metric {
            name: $constant,
            kind: MetricKind::$kind,
            labels: &[$($label),*],
            help: $help,
            unit: Unit::$unit,
        }),*];
    };
}

metrics! {
    CALLS: Counter = "idem_calls_total" ["operation", "outcome"] Count,
        "Calls that ended, each with exactly one outcome.";
    DUPLICATES_SUPPRESSED: Counter = "idem_duplicates_suppressed_total" ["operation"] Count,
        "Repeats answered from the kept result instead of running again.";
    CONFLICTS: Counter = "idem_conflicts_total" ["operation"] Count,
        "Calls refused because another call with their key was in flight.";
    MISMATCHES: Counter = "idem_mismatches_total" ["operation"] Count,
        "Calls refused because their key was used with other arguments.";
    RETRIES: Counter = "idem_retries_total" ["operation"] Count,
        "Claims won after an earlier attempt had given up: the body runs again.";
    TAKEOVERS: Counter = "idem_takeovers_total" ["operation"] Count,
        "Claims won from an attempt whose lease had run out: it may have had its effect.";
    LEASES_LOST: Counter = "idem_leases_lost_total" ["operation"] Count,
        "Running calls whose lease was lost to another call.";
    VANISHED: Counter = "idem_vanished_total" ["operation"] Count,
        "Records that must have been in the store and were not: the server lost them.";
    UNCERTAIN: Counter = "idem_uncertain_total" ["operation"] Count,
        "Calls that met an outcome that nobody knows, or left one.";
    EXHAUSTED: Counter = "idem_exhausted_total" ["operation"] Count,
        "Calls refused because their key had as many attempts as are allowed.";
    UNRECORDED: Counter = "idem_unrecorded_total" ["operation"] Count,
        "Outcomes that could not be recorded: a repeat may run again.";
    UNPROTECTED: Counter = "idem_unprotected_total" ["operation"] Count,
        "Bodies that ran without a store to protect them.";
    UNDECODABLE: Counter = "idem_undecodable_total" ["operation"] Count,
        "Repeats whose kept result does not decode as the result type of today.";
    STORE_ERRORS: Counter = "idem_store_errors_total" ["operation", "op", "kind"] Count,
        "Requests to the store left without a clear answer, by verb, all tries included.";
    STORE_EPOCHS: Counter = "idem_store_epochs_total" ["reason"] Count,
        "Signs that a server may have lost records unseen: restart (another run id), failover (another replication id), eviction (it evicted keys).";
    STORE_SECONDS: Histogram = "idem_store_seconds" ["op"] Seconds,
        "How long a store call took, by verb, answered or not.";
    BODY_SECONDS: Histogram = "idem_body_seconds" ["operation"] Seconds,
        "How long a body ran until its own end.";
    WAIT_SECONDS: Histogram = "idem_wait_seconds" ["operation"] Seconds,
        "How long a call waited for another call's end.";
    DUPLICATE_AGE_SECONDS: Histogram = "idem_duplicate_age_seconds" ["operation"] Seconds,
        "How long before a suppressed duplicate its result's attempt began, by wall clocks.";
    LEASE_LEFT_SECONDS: Histogram = "idem_lease_left_seconds" ["operation"] Seconds,
        "What was surely left of the lease when the body ended.";
    RESULT_BYTES: Histogram = "idem_result_bytes" ["operation"] Bytes,
        "The size of a result as it is kept.";
    IN_FLIGHT: Gauge = "idem_in_flight" ["operation"] Count,
        "Bodies that run now, in this process.";
    KEEPER_LAG_SECONDS: Gauge = "idem_keeper_lag_seconds" [] Seconds,
        "How much later than it was due the keeper last looked after its claims.";
    LIVE_LANES: Gauge = "idem_live_lanes" [] Count,
        "Connections to the store that are open.";
    RECORDS: Gauge = "idem_records" ["operation", "standing"] Count,
        "Records in the store, as the sampler last counted them.";
    OLDEST_UNSETTLED_SECONDS: Gauge = "idem_oldest_unsettled_seconds" ["operation"] Seconds,
        "How long ago the oldest attempt began whose outcome is unknown, as the sampler last saw; 0 without any.";
}

/// Times within a process and on the way to a store, in seconds.
const TIMES: &[f64] = &[
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1_800.0,
];
/// Ages in seconds: from the repeat of an impatient sender to a retention of a week. The default one, a day, has a boundary
/// at three quarters of it as well, where an alert stands.
const AGES: &[f64] = &[
    0.01, 0.1, 0.5, 1.0, 5.0, 30.0, 60.0, 600.0, 3_600.0, 21_600.0, 43_200.0, 64_800.0, 86_400.0, 172_800.0, 604_800.0,
];
/// Up to the default of `max_result`.
const SIZES: &[f64] = &[64.0, 256.0, 1_024.0, 4_096.0, 16_384.0, 65_536.0, 262_144.0, 524_288.0, 1_048_576.0];

impl Metric {
    /// The upper bounds of the buckets that suit a histogram; empty for other metrics.
    ///
    /// The dashboards need buckets, and an exporter may not make any unless it is told: that of Prometheus makes quantiles
    /// for each process, which cannot be added up.
    #[must_use]
    pub fn buckets(&self) -> &'static [f64] {
        match (self.kind, self.name) {
            (MetricKind::Counter | MetricKind::Gauge, _) => &[],
            (MetricKind::Histogram, DUPLICATE_AGE_SECONDS) => AGES,
            (MetricKind::Histogram, RESULT_BYTES) => SIZES,
            (MetricKind::Histogram, _) => TIMES,
        }
    }
}

/// Hands the help texts and units to the recorder in use. An engine does so by itself, at its first call; this is for an
/// application that wants them before.
///
/// ```
/// // After the exporter was installed:
/// idem_core::metrics::describe_metrics();
/// ```
pub fn describe_metrics() {
    for metric in ALL {
        let Metric { name, kind, help, unit, .. } = *metric;
        match kind {
            MetricKind::Counter => describe_counter!(name, unit, help),
            MetricKind::Gauge => describe_gauge!(name, unit, help),
            MetricKind::Histogram => describe_histogram!(name, unit, help),
        }
    }
}

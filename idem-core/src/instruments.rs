//! The handles of metrics, registered once and found again: a call only counts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};
use std::time::Duration;

use metrics::{Counter, Gauge, Histogram, SharedString, counter, gauge, histogram, with_recorder};

use crate::metrics::{ALL, CALLS, IN_FLIGHT, MetricKind, STORE_ERRORS, STORE_SECONDS, describe_metrics};
use crate::store::{StoreError, StoreErrorKind};

/// The instruments of an engine's operations, for the recorder in use.
#[derive(Default)]
pub(crate) struct Instrumentation(RwLock<Registered>);

#[derive(Default)]
struct Registered {
    recorder: Option<RecorderId>,
    store: Arc<StoreTimes>,
    by_operation: HashMap<Cow<'static, str>, Arc<Instruments>>,
}

/// Tells recorders apart, so that one that is installed late, or set for a thread, gets what happens from then on.
///
/// By address and size: the recorder that does nothing has no size, and the installed one stays where it is. Only one that
/// was set for a thread and dropped could be taken for the next one at its place, by an engine that outlived it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct RecorderId(usize, usize);

/// What is measured of one operation.
pub(crate) struct Instruments {
    operation: Cow<'static, str>,
    counters: Table<Counter>,
    histograms: Table<Histogram>,
    outcomes: Table<Counter>,
    /// By verb, then by kind.
    store_errors: Table<Table<Counter>>,
    in_flight: Gauge,
    store: Arc<StoreTimes>,
}

/// How long the verbs of a store take.
#[derive(Default)]
pub(crate) struct StoreTimes(Table<Histogram>);

/// A few things by name, so few that looking through them is the fastest way to find one.
struct Table<T>(Box<[(&'static str, T)]>);

/// What a call asks of a store. (People and jobs ask for more.)
const VERBS_OF_CALLS: [&str; 4] = ["claim", "renew", "complete", "release"];
const VERBS: [&str; 9] = ["claim", "renew", "complete", "release", "settle", "forget", "inspect", "survey", "watch"];
/// The outcomes that count from 0: what most calls come to, and ratios are made of.
const COMMON_OUTCOMES: [&str; 4] = ["executed", "failed", "replayed", "conflict"];

impl RecorderId {
    fn current() -> Self {
        with_recorder(|recorder| Self(std::ptr::from_ref(recorder).addr(), size_of_val(recorder)))
    }
}

impl Instrumentation {
    /// The instruments of the operation `name`; its first call registers them, so that they count from 0.
    pub(crate) fn of(&self, name: Cow<'static, str>) -> Arc<Instruments> {
        let recorder = RecorderId::current();
        if let Some(instruments) = self.find(recorder, &name) {
            return instruments;
        }
        let mut registered = self.registered(recorder);
        let store = Arc::clone(&registered.store);
        match registered.by_operation.entry(name) {
            Entry::Occupied(known) => Arc::clone(known.get()),
            Entry::Vacant(place) => {
                let instruments = Instruments::register(place.key().clone(), store);
                Arc::clone(place.insert(Arc::new(instruments)))
            }
        }
    }

    pub(crate) fn store(&self) -> Arc<StoreTimes> {
        Arc::clone(&self.registered(RecorderId::current()).store)
    }

    fn find(&self, recorder: RecorderId, name: &str) -> Option<Arc<Instruments>> {
        let registered = self.0.read().unwrap_or_else(PoisonError::into_inner);
        registered.by_operation.get(name).filter(|_| registered.recorder == Some(recorder)).cloned()
    }

    /// What is registered with `recorder`, the one in use; with another one, all begins anew.
    fn registered(&self, recorder: RecorderId) -> RwLockWriteGuard<'_, Registered> {
        let mut registered = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if registered.recorder != Some(recorder) {
            describe_metrics();
            let store = Arc::new(StoreTimes::register());
            *registered = Registered { recorder: Some(recorder), store, by_operation: HashMap::new() };
        }
        registered
    }
}

impl Instruments {
    fn register(operation: Cow<'static, str>, store: Arc<StoreTimes>) -> Self {
        let label: SharedString = operation.clone().into();
        let of_operation = |kind| {
            let all = ALL.iter().filter(move |metric| metric.kind == kind && metric.labels == ["operation"]);
            all.map(|metric| metric.name)
        };
        let counters = of_operation(MetricKind::Counter);
        let histograms = of_operation(MetricKind::Histogram);
        let errors_of = |verb| {
            let kinds = [StoreErrorKind::Unavailable, StoreErrorKind::Ambiguous].map(StoreErrorKind::as_str);
            Table::of(kinds, |kind| store_errors(label.clone(), verb, kind))
        };
        Self {
            counters: Table::of(counters, |name| counter!(name, "operation" => label.clone())),
            histograms: Table::of(histograms, |name| histogram!(name, "operation" => label.clone())),
            outcomes: Table::of(COMMON_OUTCOMES, |outcome| calls(label.clone(), outcome)),
            store_errors: Table::of(VERBS_OF_CALLS, errors_of),
            in_flight: gauge!(IN_FLIGHT, "operation" => label.clone()),
            store,
            operation,
        }
    }

    pub(crate) fn operation(&self) -> &Cow<'static, str> {
        &self.operation
    }

    pub(crate) fn store(&self) -> &StoreTimes {
        &self.store
    }

    /// Counts one more of what the counter `name`, of [`metrics`](crate::metrics), counts.
    pub(crate) fn add_one(&self, name: &str) {
        if let Some(counter) = self.counters.get(name) {
            counter.increment(1);
        }
    }

    /// Adds a value to the histogram `name`, of [`metrics`](crate::metrics).
    pub(crate) fn record(&self, name: &str, value: f64) {
        if let Some(histogram) = self.histograms.get(name) {
            histogram.record(value);
        }
    }

    /// Counts the end of a call.
    pub(crate) fn call(&self, outcome: &'static str) {
        match self.outcomes.get(outcome) {
            Some(counter) => counter.increment(1),
            None => calls(self.operation.clone().into(), outcome).increment(1),
        }
    }

    pub(crate) fn store_error(&self, verb: &'static str, error: &StoreError) {
        let kind = error.kind().as_str();
        match self.store_errors.get(verb).and_then(|kinds| kinds.get(kind)) {
            Some(counter) => counter.increment(1),
            None => store_errors(self.operation.clone().into(), verb, kind).increment(1),
        }
    }

    /// Counts a body as running until the guard is dropped, however the body ends.
    pub(crate) fn running(&self) -> Running<'_> {
        self.in_flight.increment(1.0);
        Running(&self.in_flight)
    }
}

/// Counts the end of a call for which there is no engine that could have instruments.
pub(crate) fn call_without_engine(operation: Cow<'static, str>, outcome: &'static str) {
    calls(operation.into(), outcome).increment(1);
}

fn calls(operation: SharedString, outcome: &'static str) -> Counter {
    counter!(CALLS, "operation" => operation, "outcome" => outcome)
}

fn store_errors(operation: SharedString, verb: &'static str, kind: &'static str) -> Counter {
    counter!(STORE_ERRORS, "operation" => operation, "op" => verb, "kind" => kind)
}

impl StoreTimes {
    fn register() -> Self {
        Self(Table::of(VERBS, |verb| histogram!(STORE_SECONDS, "op" => verb)))
    }

    pub(crate) fn took(&self, verb: &'static str, time: Duration) {
        if let Some(histogram) = self.0.get(verb) {
            histogram.record(time);
        }
    }
}

impl<T> Table<T> {
    fn of(names: impl IntoIterator<Item = &'static str>, make: impl Fn(&'static str) -> T) -> Self {
        Self(names.into_iter().map(|name| (name, make(name))).collect())
    }

    fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Box::default())
    }
}

/// See [`Instruments::running`].
pub(crate) struct Running<'a>(&'a Gauge);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

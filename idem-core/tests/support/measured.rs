//! What a recorder of metrics has seen.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

use std::collections::BTreeMap;

use metrics_util::debugging::{DebugValue, Snapshotter};

/// The series since the last look: name, then labels in order.
#[derive(Debug)]
pub struct Measured(pub BTreeMap<(String, Vec<(String, String)>), DebugValue>);

impl Measured {
    pub fn take(snapshotter: &Snapshotter) -> Self {
        let series = snapshotter.snapshot().into_vec().into_iter().map(|(key, _, _, value)| {
            let key = key.key();
            let mut labels: Vec<_> =
                key.labels().map(|label| (label.key().to_owned(), label.value().to_owned())).collect();
            labels.sort();
            ((key.name().to_owned(), labels), value)
        });
        Self(series.collect())
    }

    fn of<'a>(&'a self, name: &'a str, labels: &'a [(&'a str, &'a str)]) -> impl Iterator<Item = &'a DebugValue> {
        let has = |known: &[(String, String)], (label, value): (&str, &str)| {
            known.iter().any(|(known, is)| (known.as_str(), is.as_str()) == (label, value))
        };
        let fits = move |known: &(String, Vec<(String, String)>)| {
            known.0 == name && labels.iter().all(|label| has(&known.1, *label))
        };
        self.0.iter().filter(move |(known, _)| fits(known)).map(|(_, value)| value)
    }

    pub fn has(&self, name: &str, labels: &[(&str, &str)]) -> bool {
        self.of(name, labels).next().is_some()
    }

    /// The sum of the counters with these labels.
    pub fn count(&self, name: &str, labels: &[(&str, &str)]) -> u64 {
        let counters = self.of(name, labels);
        counters.map(|value| if let DebugValue::Counter(count) = value { *count } else { 0 }).sum()
    }

    /// The gauge with these labels.
    pub fn gauge(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        self.of(name, labels).find_map(|value| if let DebugValue::Gauge(is) = value { Some(is.0) } else { None })
    }

    /// All values of the histograms with these labels.
    pub fn values(&self, name: &str, labels: &[(&str, &str)]) -> Vec<f64> {
        let histograms = self.of(name, labels);
        let values =
            histograms.filter_map(|value| if let DebugValue::Histogram(all) = value { Some(all) } else { None });
        values.flatten().map(|value| value.0).collect()
    }
}

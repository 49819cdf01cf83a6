//! The page on what there is to see, held against the code.

#[macro_use]
#[path = "support/watched.rs"]
mod watched;
#[path = "support/outcomes.rs"]
mod outcomes;

use idem_core::metrics::ALL;

const PAGE: &str = include_str!("../../docs/observability.md");

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    PAGE.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
}

#[test]
fn each_metric_has_its_row_and_each_row_its_metric() {
    let quoted = |name: &&str| format!("`{name}`");
    let known = ALL.iter().map(|metric| {
        let labels = metric.labels.iter().map(quoted).collect::<Vec<_>>().join(", ");
        let labels = if labels.is_empty() { "-".to_owned() } else { labels };
        [quoted(&metric.name), format!("{:?}", metric.kind).to_lowercase(), labels, metric.help.to_owned()]
    });
    let documented = rows().filter(|row| row[0].starts_with("`idem_")).map(|row| {
        assert!(!row[4].is_empty(), "{row:?} says when to worry");
        [row[0], row[1], row[2], row[3]].map(str::to_owned)
    });
    assert_eq!(documented.collect::<Vec<_>>(), known.collect::<Vec<_>>());
}

#[test]
fn each_outcome_has_its_row() {
    for outcome in outcomes::ALL.iter().flat_map(|(_, outcomes, _)| *outcomes) {
        assert!(rows().any(|row| row[0].contains(&format!("`{outcome}`"))), "{outcome}");
    }
}

//! Dashboard, rules and alerts speak of the metrics that there are, and of all of them.

use std::collections::{BTreeMap, BTreeSet};

use idem::metrics::{ALL, Metric, MetricKind};

use crate::expression::{Mention, mentions};
use crate::files;

/// What Prometheus adds to each series.
const OF_PROMETHEUS: [&str; 2] = ["job", "instance"];

/// All expressions, each with where it stands.
fn expressions() -> Vec<(String, String)> {
    let dashboard = files::dashboard();
    let panels = dashboard.panels.into_iter();
    let on_panels =
        panels.flat_map(|panel| panel.targets.into_iter().map(move |target| (panel.title.clone(), target.expr)));
    let recorded = files::recorded().into_iter().map(|rule| (rule.name, rule.expr));
    let alerts = files::alerts().into_iter().map(|alert| (alert.name, alert.expr));
    let variables = dashboard.templating.list.into_iter().filter(|variable| variable.kind == "query");
    let variables = variables.map(|variable| (variable.name, variable.definition));
    on_panels.chain(recorded).chain(alerts).chain(variables).collect()
}

/// The metric that a mention means, and the labels that its series have.
fn metric(mention: &Mention) -> Option<(&'static Metric, BTreeSet<&'static str>)> {
    let mut labels: BTreeSet<&str> = OF_PROMETHEUS.into();
    let metric = ALL.iter().find(|metric| match metric.kind {
        MetricKind::Histogram => {
            mention.name.strip_prefix(metric.name).is_some_and(|part| ["_bucket", "_sum", "_count"].contains(&part))
        }
        _ => mention.name == metric.name,
    })?;
    labels.extend(metric.labels);
    if mention.name.ends_with("_bucket") {
        labels.insert("le");
    }
    Some((metric, labels))
}

#[test]
fn every_expression_asks_for_metrics_that_exist_with_labels_that_they_have() {
    let recorded = files::recorded();
    let rules: BTreeMap<_, _> = recorded.iter().map(|rule| (rule.name.as_str(), mentions(&rule.expr))).collect();
    for (place, expr) in expressions() {
        let mentioned = mentions(&expr);
        assert!(!mentioned.is_empty(), "{place} mentions nothing of idem: {expr}");
        for mention in mentioned {
            let labels = match rules.get(mention.name.as_str()) {
                // A rule's series have the labels that it is grouped by.
                Some(inside) => inside[0].labels.iter().map(String::as_str).collect(),
                None => metric(&mention).unwrap_or_else(|| panic!("{place}: there is no {}", mention.name)).1,
            };
            for label in &mention.labels {
                assert!(labels.contains(label.as_str()), "{place}: {} has no label {label}", mention.name);
            }
        }
    }
}

#[test]
fn every_metric_is_on_the_dashboard() {
    let dashboard = files::dashboard();
    let rules: BTreeMap<_, _> = files::recorded().into_iter().map(|rule| (rule.name, rule.expr)).collect();
    let shown: BTreeSet<&str> = dashboard
        .panels
        .iter()
        .flat_map(|panel| &panel.targets)
        .flat_map(|target| mentions(&target.expr))
        .flat_map(|mention| rules.get(&mention.name).map_or_else(|| vec![mention.clone()], |expr| mentions(expr)))
        .filter_map(|mention| metric(&mention))
        .map(|(metric, _)| metric.name)
        .collect();
    let all: BTreeSet<&str> = ALL.iter().map(|metric| metric.name).collect();
    assert_eq!(shown, all);
}

/// The labels that the result of `expr` has: what is grouped by, here or in the rule that it is of.
fn left_by(expr: &str) -> BTreeSet<String> {
    let rules = files::recorded();
    let inside = |mention: Mention| match rules.iter().find(|rule| rule.name == mention.name) {
        Some(rule) => mentions(&rule.expr),
        None => vec![mention],
    };
    mentions(expr).into_iter().flat_map(inside).flat_map(|mention| mention.labels).collect()
}

#[test]
fn an_alert_speaks_of_labels_that_its_expression_leaves() {
    for alert in files::alerts() {
        let left = left_by(&alert.expr);
        for (_, text) in &alert.annotations {
            for label in text.split("$labels.").skip(1) {
                let label = label.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
                assert!(left.contains(label), "{}: {label}", alert.name);
            }
        }
    }
}

#[test]
fn a_legend_names_labels_that_its_expression_leaves() {
    for panel in files::dashboard().panels {
        for target in panel.targets {
            let left = left_by(&target.expr);
            for label in target.legend.split("{{").skip(1).filter_map(|part| part.split("}}").next()) {
                assert!(left.contains(label), "{}: {label}", panel.title);
            }
        }
    }
}

#[test]
fn the_dashboard_has_its_rows_and_no_panel_covers_another() {
    let panels = files::dashboard().panels;
    let rows: Vec<_> = panels.iter().filter(|panel| panel.kind == "row").map(|panel| panel.title.as_str()).collect();
    let expected = ["Health", "Duplicates", "Conflicts and waits", "Crashes and unknown outcomes", "Redis", "Capacity"];
    assert_eq!(rows, expected);
    let mut taken = BTreeMap::new();
    for panel in &panels {
        let place = panel.place;
        assert!(place.x + place.w <= 24, "{} is too wide", panel.title);
        for spot in (place.x..place.x + place.w).flat_map(|x| (place.y..place.y + place.h).map(move |y| (x, y))) {
            let other = taken.insert(spot, &panel.title);
            assert_eq!(other, None, "{} covers another at {spot:?}", panel.title);
        }
    }
}

#[test]
fn every_alert_says_what_it_means_and_what_to_do_and_has_a_runbook() {
    let page = include_str!("../../docs/observability.md");
    for alert in files::alerts() {
        for annotation in ["summary", "description", "action"] {
            assert!(!alert.annotation(annotation).is_empty(), "{} has no {annotation}", alert.name);
        }
        assert!(["warning", "critical"].contains(&alert.severity.as_str()), "{}", alert.name);
        let anchor = format!("docs/observability.md#{}", alert.name.to_lowercase());
        assert_eq!(alert.annotation("runbook"), anchor);
        assert!(page.lines().any(|line| line == format!("### {}", alert.name)), "no runbook for {}", alert.name);
    }
}

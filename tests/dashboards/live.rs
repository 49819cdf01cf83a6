//! Dashboard, rules and alerts on a real Prometheus, which scrapes the example under load.
//!
//! Hours are not waited for: [`hastened`] makes a copy of the rules in which all durations are a sixtieth, so that an
//! hour is a minute, and nothing else is different; Prometheus scrapes each second, as if it were each minute. That
//! each alert of the rules as they are shipped waits for its time is checked on made-up series, by `alerts.test.yml`.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use test_support::{Prometheus, http, wait_until};

use crate::files;
use crate::tools::{self, Served, assert_content, promtool};

/// Of all alerts together. The slowest waits for an hour that takes a minute here, after some seconds of load.
const LIMIT: Duration = Duration::from_secs(170);
/// Light: there are many at a time, on a machine that has other things to do.
const RATE: [&str; 2] = ["--rate", "8"];
const HEALTHY: &str = "healthy";

/// The example as a service, under the name that Prometheus knows it by.
struct Job {
    name: String,
    served: Served,
}

impl Job {
    fn start(name: String, args: &[&str]) -> Self {
        Self { name, served: Served::start(&[&RATE[..], args].concat()) }
    }
}

#[test]
fn rules_are_valid_and_each_alert_waits_for_its_time() {
    let cases = include_str!("alerts.test.yml");
    for alert in files::alerts() {
        assert!(cases.contains(&format!("- name: {}\n", alert.name)), "{} has no case", alert.name);
    }
    if tools::is_there() {
        assert_content(&promtool(&["check", "rules", "prometheus/rules.yml", "prometheus/alerts.yml"], ""));
        assert_content(&promtool(&["test", "rules", "../tests/dashboards/alerts.test.yml"], ""));
    }
}

#[test]
fn each_alert_fires_on_its_cause_and_none_in_a_healthy_run() {
    if !tools::is_there() {
        return;
    }
    let alerts = files::alerts();
    let provoked = alerts.iter().map(|alert| Job::start(alert.cause(), &["--provoke", &alert.cause()]));
    let mut jobs = vec![Job::start(HEALTHY.to_owned(), &["--healthy"]), Job::start("bad_days".to_owned(), &[])];
    jobs.extend(provoked);
    let ports: Vec<(String, u16)> = jobs.iter_mut().map(|job| (job.name.clone(), job.served.port())).collect();
    let started = Instant::now();
    let watching = watch(&ports);

    let expected: BTreeSet<(String, String)> = alerts.iter().map(|alert| (alert.name.clone(), alert.cause())).collect();
    let mut fired = BTreeSet::new();
    let _ = wait_until(LIMIT, || {
        thread::sleep(Duration::from_secs(1));
        fired = have_fired(&watching);
        expected.is_subset(&fired)
    });
    let missing: Vec<_> = expected.difference(&fired).collect();
    assert!(missing.is_empty(), "silent in spite of their cause after {:?}: {missing:?}", started.elapsed());
    // It was watched for as long as the slowest alert took.
    let false_alarms: Vec<_> = fired.iter().filter(|(_, job)| job == HEALTHY).collect();
    assert!(false_alarms.is_empty(), "without a cause: {false_alarms:?}");

    assert_every_expression_has_data(&watching);
    for (job, port) in &ports {
        let metrics = http::get(*port, "/metrics").unwrap_or_else(|error| panic!("{job}: {error}"));
        assert_content(&promtool(&["check", "metrics"], &metrics));
    }
}

/// The alerts have had theirs: each has fired.
fn assert_every_expression_has_data(watching: &Prometheus) {
    let dashboard = files::dashboard();
    let of_panels = dashboard.panels.into_iter().flat_map(|panel| {
        let title = panel.title;
        panel.targets.into_iter().map(move |target| (title.clone(), target.expr))
    });
    let of_rules =
        files::recorded().into_iter().flat_map(|rule| [(rule.name.clone(), rule.expr), (rule.name.clone(), rule.name)]);
    for (place, expr) in of_panels.chain(of_rules) {
        let expr = expr.replace("$job", ".*").replace("$operation", ".*").replace("$__rate_interval", "30s");
        let numbers = query(watching, &expr).iter().filter(|series| series["value"][1] != "NaN").count();
        assert!(numbers > 0, "{place} shows nothing: {expr}");
    }
}

/// A Prometheus that scrapes each of the jobs under its name.
fn watch(ports: &[(String, u16)]) -> Prometheus {
    let scraped = ports
        .iter()
        .map(|(job, port)| format!("  - {{job_name: {job}, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}\n"));
    let head = "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [rules.yml, alerts.yml]\n";
    let config = format!("{head}scrape_configs:\n{}", scraped.collect::<String>());
    let [rules, alerts] = ["prometheus/rules.yml", "prometheus/alerts.yml"].map(|file| hastened(&files::read(file)));
    Prometheus::start(&config, &[("rules.yml", &rules), ("alerts.yml", &alerts)]).expect("prometheus starts")
}

/// Each alert that fired at some time, with the job it fired for.
fn have_fired(watching: &Prometheus) -> BTreeSet<(String, String)> {
    let ever = r#"count by (alertname, job) (last_over_time(ALERTS{alertstate="firing"}[1h]))"#;
    let label = |series: &Value, name: &str| series["metric"][name].as_str().unwrap_or_default().to_owned();
    query(watching, ever).iter().map(|series| (label(series, "alertname"), label(series, "job"))).collect()
}

#[track_caller]
fn query(watching: &Prometheus, expr: &str) -> Vec<Value> {
    let answer = watching.get(&format!("/api/v1/query?query={}", http::escaped(expr)));
    let answer = answer.unwrap_or_else(|error| panic!("{expr}: {error}"));
    let mut answer: Value = serde_json::from_str(&answer).expect("Prometheus answers in JSON");
    match answer["data"]["result"].take() {
        Value::Array(series) => series,
        other => panic!("{expr}: {other}"),
    }
}

/// The same rules, sixty times as fast: every duration in brackets, and after `for:` and `interval:`, is a sixtieth.
fn hastened(rules: &str) -> String {
    let hastened = rules.lines().map(|line| {
        let (key, value) = line.split_once(": ").unwrap_or((line, ""));
        if ["for", "interval"].contains(&key.trim()) {
            return format!("{key}: {}\n", sixtieth(value));
        }
        let mut parts = line.split('[');
        let before = parts.next().unwrap_or_default();
        let ranges = parts.map(|part| {
            let (range, rest) = part.split_once(']').expect("brackets are closed");
            format!("[{}]{rest}", sixtieth(range))
        });
        format!("{before}{}\n", ranges.collect::<String>())
    });
    hastened.collect()
}

fn sixtieth(duration: &str) -> String {
    let (number, unit) = duration.split_at(duration.len() - 1);
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => panic!("{duration} is no duration that these rules use"),
    };
    format!("{}ms", number.parse::<u64>().expect("a number") * seconds * 1000 / 60)
}

#[test]
fn what_can_be_provoked_is_what_there_are_alerts_for() {
    let refusal = tools::refusal(&["--provoke", "no_such_cause"]);
    let list = refusal.split("[possible values: ").nth(1).and_then(|rest| rest.split(']').next()).unwrap_or(&refusal);
    let causes: BTreeSet<String> = list.split(", ").map(str::to_owned).collect();
    assert_eq!(causes, files::alerts().iter().map(files::Alert::cause).collect());
}

#[test]
fn hastening_changes_durations_and_nothing_else() {
    let rules = "    interval: 15s\n  expr: rate(a[5m]) > 300 # 5m\n  for: 1h\n";
    assert_eq!(hastened(rules), "    interval: 250ms\n  expr: rate(a[5000ms]) > 300 # 5m\n  for: 60000ms\n");
}

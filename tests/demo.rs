//! The example `payments` keeps what it promises: run as a person would, checked by what it prints.
#![cfg(all(feature = "macros", feature = "redis"))]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Demo {
    ok: bool,
    scenarios: Vec<Scenario>,
}

#[derive(Debug, Deserialize)]
struct Scenario {
    name: String,
    deliveries: u32,
    effects: u32,
    replays: u32,
    conflicts: u32,
    mismatches: u32,
    takeovers: u32,
    unknown: u32,
    ok: bool,
    #[serde(default)]
    skipped: bool,
}

#[derive(Debug, Deserialize)]
struct Storm {
    ok: bool,
    kills: u32,
    orders: u32,
    effects: u32,
    second_effects: u32,
    flagged: u32,
    silent: u32,
}

/// The example as built beside this test: `cargo test` builds all examples, `cargo test --test demo` does not.
fn payments(args: &[&str]) -> Output {
    let test = std::env::current_exe().expect("a test knows its own path");
    let profile = test.ancestors().nth(2).expect("tests are built in <profile>/deps");
    let example: PathBuf = profile.join("examples/payments");
    assert!(example.exists(), "{} is missing: run `cargo build --example payments` first", example.display());
    // A server of the developer's own would be spared the restart, and the scenario skipped.
    Command::new(example).args(args).env_remove("REDIS_URL").output().expect("the example starts")
}

/// What it printed, once it is known to have succeeded.
#[track_caller]
fn printed(output: &Output) -> String {
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{stdout}\n{stderr}", output.status);
    stdout
}

/// Parsing the whole output also shows that there is nothing but this object.
#[track_caller]
fn parsed<T: for<'de> Deserialize<'de>>(args: &[&str]) -> T {
    let stdout = printed(&payments(args));
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

#[test]
fn every_scenario_ends_as_guaranteed() {
    let demo: Demo = parsed(&["--json"]);
    assert!(demo.ok, "{demo:#?}");
    let by_name: BTreeMap<&str, &Scenario> =
        demo.scenarios.iter().map(|played| (played.name.as_str(), played)).collect();
    // Effects, replays, mismatches, takeovers, unknown outcomes.
    let expected = BTreeMap::from([
        ("sequential-duplicates", [1, 4, 0, 0, 0]),
        ("concurrent-duplicates", [1, 3, 0, 0, 0]),
        ("reused-key", [1, 1, 1, 0, 0]),
        ("declined-then-charged", [1, 1, 0, 0, 0]),
        ("killed-before-effect", [1, 1, 0, 1, 1]),
        ("killed-after-effect", [2, 1, 0, 1, 1]),
        ("restarted-redis", [1, 2, 0, 0, 0]),
    ]);
    let counts = by_name.iter().map(|(name, played)| {
        let Scenario { effects, replays, mismatches, takeovers, unknown, .. } = played;
        (*name, [*effects, *replays, *mismatches, *takeovers, *unknown])
    });
    assert_eq!(counts.collect::<BTreeMap<_, _>>(), expected);
    assert!(demo.scenarios.iter().all(|played| played.ok && !played.skipped), "{demo:#?}");

    assert_eq!(by_name["sequential-duplicates"].deliveries, 5);
    let concurrent = by_name["concurrent-duplicates"];
    assert_eq!((concurrent.deliveries, concurrent.conflicts), (7, 3));
    // How often a delivery meets the lease of the dead depends on the time; each such delivery is one more.
    for name in ["killed-before-effect", "killed-after-effect"] {
        assert_eq!(by_name[name].deliveries, 3 + by_name[name].conflicts, "{name}");
    }
}

#[test]
fn the_output_for_people_has_a_table_and_the_metrics() {
    let text = printed(&payments(&[]));
    let row = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name}: {text}"));
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let heads =
        ["scenario", "deliveries", "effects", "replays", "conflicts", "mismatches", "takeovers", "unknown", "ledger"];
    assert_eq!(row("scenario"), heads);
    assert_eq!(row("concurrent-duplicates"), ["concurrent-duplicates", "7", "1", "3", "3", "0", "0", "0", "ok"]);
    for metric in [
        "# TYPE idem_takeovers_total counter",
        r#"idem_takeovers_total{operation="payments.charge"} 2"#,
        r#"idem_duplicates_suppressed_total{operation="payments.charge"} 13"#,
        r#"idem_mismatches_total{operation="payments.charge"} 1"#,
    ] {
        assert!(text.lines().any(|line| line == metric), "no {metric}: {text}");
    }
    assert!(text.contains("The ledger agrees with the guarantees."), "{text}");
}

#[test]
fn fifty_kills_repeat_nothing_in_silence() {
    let storm: Storm = parsed(&["storm", "--kills", "50", "--json"]);
    assert!(storm.ok, "{storm:?}");
    assert_eq!((storm.kills, storm.silent), (50, 0), "{storm:?}");
    assert_eq!(storm.second_effects, storm.flagged, "{storm:?}");
    assert_eq!(storm.effects, storm.orders + storm.second_effects, "{storm:?}");
    // Or the storm hit no charge between its effect and the record, and would have shown nothing.
    assert!(storm.second_effects > 0, "{storm:?}");
}

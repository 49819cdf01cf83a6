//! The files of `dashboards/`, as what is in them.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use yaml_rust2::{Yaml, YamlLoader};

pub(crate) fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboards")
}

pub(crate) fn read(file: &str) -> String {
    let path = dir().join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dashboard {
    pub(crate) panels: Vec<Panel>,
    pub(crate) templating: Templating,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Panel {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) targets: Vec<Target>,
    #[serde(rename = "gridPos")]
    pub(crate) place: Place,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Place {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) w: u32,
    pub(crate) h: u32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) expr: String,
    #[serde(rename = "legendFormat")]
    pub(crate) legend: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Templating {
    pub(crate) list: Vec<Variable>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Variable {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) definition: String,
}

pub(crate) fn dashboard() -> Dashboard {
    serde_json::from_str(&read("grafana.json")).expect("grafana.json is a dashboard")
}

/// A recording rule.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) name: String,
    pub(crate) expr: String,
}

#[derive(Debug)]
pub(crate) struct Alert {
    pub(crate) name: String,
    pub(crate) expr: String,
    pub(crate) severity: String,
    /// By name, all that are there.
    pub(crate) annotations: Vec<(String, String)>,
}

impl Alert {
    pub(crate) fn annotation(&self, name: &str) -> &str {
        self.annotations.iter().find(|(is, _)| is == name).map_or("", |(_, text)| text)
    }

    /// What provokes it: `payments serve --provoke` has the alerts' own names.
    pub(crate) fn cause(&self) -> String {
        let words = self.name.strip_prefix("Idem").expect("alerts of idem");
        let snake = words.chars().flat_map(|c| c.is_uppercase().then_some('_').into_iter().chain(c.to_lowercase()));
        snake.collect::<String>().trim_matches('_').to_owned()
    }
}

pub(crate) fn recorded() -> Vec<Recorded> {
    let rules = rules("prometheus/rules.yml").into_iter();
    rules.map(|rule| Recorded { name: text(&rule["record"]), expr: text(&rule["expr"]) }).collect()
}

pub(crate) fn alerts() -> Vec<Alert> {
    let alert = |rule: Yaml| Alert {
        name: text(&rule["alert"]),
        expr: text(&rule["expr"]),
        severity: text(&rule["labels"]["severity"]),
        annotations: rule["annotations"]
            .as_hash()
            .into_iter()
            .flatten()
            .map(|(name, value)| (text(name), text(value)))
            .collect(),
    };
    rules("prometheus/alerts.yml").into_iter().map(alert).collect()
}

fn rules(file: &str) -> Vec<Yaml> {
    let [document] = &YamlLoader::load_from_str(&read(file)).expect("it is YAML")[..] else {
        panic!("{file} is one document");
    };
    let groups = document["groups"].as_vec().expect("there are groups");
    groups.iter().flat_map(|group| group["rules"].as_vec().expect("a group has rules")).cloned().collect()
}

fn text(value: &Yaml) -> String {
    value.as_str().unwrap_or_else(|| panic!("a text, not {value:?}")).to_owned()
}

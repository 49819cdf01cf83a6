//! The counters of many workers as one: what a Prometheus server would show as `sum without (instance)`.

use std::collections::BTreeMap;
use std::fmt;

/// Metrics in Prometheus' text form, summed.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    families: BTreeMap<String, Family>,
}

#[derive(Debug, Default)]
struct Family {
    /// The lines `# HELP …` and `# TYPE …`.
    comments: Vec<String>,
    series: BTreeMap<String, f64>,
}

impl Totals {
    /// Adds what one worker counted.
    pub(crate) fn add(&mut self, rendered: &str) {
        for line in rendered.lines() {
            if let Some(comment) = line.strip_prefix("# ") {
                let name = comment.split(' ').nth(1).unwrap_or_default();
                let comments = &mut self.family(name).comments;
                if !comments.iter().any(|known| known == line) {
                    comments.push(line.to_owned());
                }
            } else if let Some((series, value)) = line.rsplit_once(' ')
                && let Ok(value) = value.parse::<f64>()
            {
                let name = series.split('{').next().unwrap_or_default();
                *self.family(name).series.entry(series.to_owned()).or_default() += value;
            }
        }
    }

    fn family(&mut self, name: &str) -> &mut Family {
        self.families.entry(name.to_owned()).or_default()
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for family in self.families.values() {
            for comment in &family.comments {
                writeln!(f, "{comment}")?;
            }
            for (series, value) in &family.series {
                writeln!(f, "{series} {value}")?;
            }
        }
        Ok(())
    }
}

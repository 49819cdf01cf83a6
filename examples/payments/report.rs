//! What the scenarios came to: a table and metrics for people, one object for programs.

use std::fmt::Display;

use serde::Serialize;

use crate::broker::Tally;
use crate::ledger::Entry;
use crate::out::Out;
use crate::totals::Totals;

/// What all scenarios came to.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) rows: Vec<Row>,
    /// What the workers counted that lived to tell.
    pub(crate) totals: Totals,
}

/// What one scenario came to.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    name: &'static str,
    #[serde(flatten)]
    tally: Tally,
    /// Charges in the ledger.
    effects: usize,
    /// Those of them that are marked as takeovers.
    takeovers: usize,
    ok: bool,
    #[serde(skip_serializing_if = "is_false")]
    skipped: bool,
}

#[derive(Serialize)]
struct Summary<'a> {
    ok: bool,
    scenarios: &'a [Row],
}

impl Row {
    pub(crate) fn new(name: &'static str, tally: Tally, effects: &[&Entry], ok: bool) -> Self {
        let takeovers = effects.iter().filter(|entry| entry.takeover).count();
        Self { name, tally, effects: effects.len(), takeovers, ok, skipped: false }
    }

    /// A scenario that could not be played here, which is no failure.
    pub(crate) fn skipped(name: &'static str) -> Self {
        Self { skipped: true, ..Self::new(name, Tally::default(), &[], true) }
    }

    fn verdict(&self) -> &'static str {
        match (self.skipped, self.ok) {
            (true, _) => "skipped",
            (_, true) => "ok",
            (_, false) => "FAILED",
        }
    }
}

impl Results {
    pub(crate) fn ok(&self) -> bool {
        self.rows.iter().all(|row| row.ok)
    }

    /// Shows everything; tells whether the ledger agrees with the guarantees.
    pub(crate) fn conclude(&self, out: Out, json: bool) -> bool {
        self.show_table(out);
        self.show_metrics(out);
        out.line(if self.ok() {
            "\nThe ledger agrees with the guarantees."
        } else {
            "\nThe ledger DISAGREES with the guarantees, or a scenario went otherwise; see above."
        });
        if json {
            let summary = Summary { ok: self.ok(), scenarios: &self.rows };
            Out::Stdout.line(serde_json::to_string(&summary).unwrap_or_default());
        }
        self.ok()
    }

    fn show_table(&self, out: Out) {
        let heads = ["deliveries", "effects", "replays", "conflicts", "mismatches", "takeovers", "unknown"];
        out.line("");
        out.line(line("scenario", heads, "ledger"));
        for row in &self.rows {
            if row.skipped {
                out.line(line(row.name, ["-"; 7], row.verdict()));
                continue;
            }
            let Tally { deliveries, replays, conflicts, mismatches, unknown } = row.tally;
            let counts =
                [deliveries, count(row.effects), replays, conflicts, mismatches, count(row.takeovers), unknown];
            out.line(line(row.name, counts, row.verdict()));
        }
        out.line("");
        out.paragraph(
            "",
            "effects, takeovers: lines of the ledger, and those marked as made by an attempt that took over. \
            unknown: deliveries whose worker died inside the charge; each must show up as a takeover.",
        );
    }

    fn show_metrics(&self, out: Out) {
        let killed: u32 = self.rows.iter().map(|row| row.tally.unknown).sum();
        out.line("");
        out.paragraph(
            "",
            &format!(
                "Metrics of all workers, summed ({killed} that were killed are missing, their counters \
            died with them):"
            ),
        );
        out.line(self.totals.to_string().trim_end());
    }
}

fn line<T: Display>(name: &str, columns: [T; 7], verdict: &str) -> String {
    let columns = columns.map(|column| format!("{column:>12}")).concat();
    format!("{name:<22}{columns}  {verdict}")
}

fn count(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(value: &bool) -> bool {
    !*value
}

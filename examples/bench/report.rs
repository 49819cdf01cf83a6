//! The figures, and how they are shown.

use std::fmt::Write as _;

use serde::Serialize;

use crate::throughput::Case;

#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
    pub(crate) bytes_per_key: BytesPerKey,
    pub(crate) commands_per_call: CommandsPerCall,
    pub(crate) in_process_ns: InProcess,
}

/// Medians over the rounds, in calls per second.
#[derive(Serialize)]
pub(crate) struct Row {
    case: Case,
    callers: usize,
    reference_ops: f64,
    idem_ops: f64,
    ratio: f64,
}

/// `bare_set` and `idem` are the figures to compare: the same 36 bytes of JSON under Redis keys of the same length, in which the user's key is 36
/// characters and the rest is what idem puts around it.
#[derive(Serialize)]
pub(crate) struct BytesPerKey {
    pub(crate) bare_set: f64,
    pub(crate) idem: f64,
    /// The same payload under the user's 36 characters alone.
    pub(crate) bare_set_users_key: f64,
    /// A text of 36 characters, so 38 bytes of JSON.
    pub(crate) bare_set_uuid: f64,
    pub(crate) idem_uuid: f64,
}

#[derive(Serialize)]
pub(crate) struct CommandsPerCall {
    pub(crate) first: usize,
    pub(crate) replay: usize,
    pub(crate) conflict: usize,
}

/// Nanoseconds per call, in the least disturbed round.
#[derive(Serialize)]
pub(crate) struct InProcess {
    pub(crate) alone: PerCall,
    /// With a Prometheus exporter.
    pub(crate) measured: PerCall,
    /// And with a subscriber that takes the spans.
    pub(crate) traced: PerCall,
}

#[derive(Serialize)]
pub(crate) struct PerCall {
    pub(crate) first: f64,
    pub(crate) replay: f64,
}

impl Row {
    pub(crate) fn new(case: Case, callers: usize, reference_ops: f64, idem_ops: f64) -> Self {
        let ratio = (idem_ops / reference_ops * 1000.0).round() / 1000.0;
        Self { case, callers, reference_ops: reference_ops.round(), idem_ops: idem_ops.round(), ratio }
    }
}

impl Report {
    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).expect("plain numbers")
    }

    pub(crate) fn table(&self) -> String {
        let mut out = String::new();
        self.write_table(&mut out).expect("writing to a text");
        out
    }

    fn write_table(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "calls per second, medians    by hand       idem   ratio   commands per call")?;
        for row in &self.rows {
            let commands = match row.case {
                Case::First => self.commands_per_call.first,
                Case::Replay => self.commands_per_call.replay,
                Case::Conflict => self.commands_per_call.conflict,
            };
            let case = format!("{:?}, {} callers", row.case, row.callers);
            writeln!(out, "{case:24} {:11.0} {:10.0} {:7.3} {commands:9}", row.reference_ops, row.idem_ops, row.ratio)?;
        }
        let bytes = &self.bytes_per_key;
        writeln!(out, "\nbytes per key               bare SET       idem   ratio")?;
        let lines = [
            ("36 bytes, same Redis key", bytes.bare_set, bytes.idem),
            ("36 bytes, user's key", bytes.bare_set_users_key, bytes.idem),
            ("38 bytes, same Redis key", bytes.bare_set_uuid, bytes.idem_uuid),
        ];
        for (what, bare, idem) in lines {
            writeln!(out, "{what:24} {bare:11.1} {idem:10.1} {:7.3}", idem / bare)?;
        }
        writeln!(
            out,
            "(the user's key is 36 characters; \"same Redis key\": with all that idem puts around it, on both sides)"
        )?;
        writeln!(out, "\nnanoseconds per call in memory       first     replay")?;
        let InProcess { alone, measured, traced } = &self.in_process_ns;
        for (what, ns) in [("idem", alone), ("with an exporter", measured), ("with an exporter and spans", traced)] {
            writeln!(out, "{what:32} {:9} {:10}", ns.first, ns.replay)?;
        }
        Ok(())
    }
}

/// The middle value; 0 of none.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

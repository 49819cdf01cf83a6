//! `cargo xtask test`: every check of this repository, each as a process of its own.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use clap::ValueEnum;

use crate::cargo::status;
use crate::error::Error;
use crate::lua;
use crate::package;
use crate::setup;
use crate::steps::{self, Outcome, Step};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run this step only; may be given several times
    #[arg(long, value_enum, value_name = "STEP")]
    only: Vec<Step>,
}

struct Report {
    step: Step,
    outcome: Outcome,
    took: Duration,
}

/// Runs all steps, also after one has failed, so that one run tells all there is to mend.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Error> {
    let steps: Vec<Step> = Step::value_variants()
        .iter()
        .copied()
        .filter(|step| args.only.is_empty() || args.only.contains(step))
        .collect();
    // Before the first step: minutes of lints are no use to somebody whose machine cannot run the tests.
    let server = if steps.contains(&Step::Test) { Some(setup::redis_server()?) } else { None };
    let mut reports = Vec::new();
    for step in steps {
        let start = Instant::now();
        let outcome = run_step(step, server.as_ref())?;
        reports.push(Report { step, outcome, took: start.elapsed() });
    }
    print!("{}", summary(&reports));
    if reports.iter().any(|report| report.outcome == Outcome::Failed) {
        Ok(ExitCode::FAILURE)
    } else {
        Ok(ExitCode::SUCCESS)
    }
}

fn run_step(step: Step, server: Option<&PathBuf>) -> Result<Outcome, Error> {
    let mut commands = match step {
        Step::Lua => match lua::lint() {
            Ok(command) => vec![command],
            Err(missing) => {
                eprintln!("\nxtask: SKIPPED {}: {missing}", step.name());
                return Ok(Outcome::Skipped(missing.to_string()));
            }
        },
        Step::Package => return package::check(),
        _ => steps::commands(step),
    };
    let locales = if step == Step::Test { has_locales() } else { false };
    let prometheus = if step == Step::Test { prometheus() } else { None };
    for command in &mut commands {
        if let Some(server) = server {
            command.env("IDEM_REDIS_SERVER", server);
        }
        if locales {
            // What is there may not be skipped by the test that needs it.
            command.env("IDEM_TESTED_BY_XTASK", "1");
        }
        if let Some(prometheus) = &prometheus {
            command.env("IDEM_PROMETHEUS", prometheus);
        }
        eprintln!("\nxtask: {}: {}", step.name(), shown(command));
        if !status(command)?.success() {
            return Ok(Outcome::Failed);
        }
    }
    Ok(Outcome::Passed)
}

fn has_locales() -> bool {
    setup::locales().inspect_err(|missing| eprintln!("\nxtask: SKIPPED one test: {missing}")).is_ok()
}

/// With one that is named, no test may be skipped for the lack of it.
fn prometheus() -> Option<PathBuf> {
    setup::prometheus().inspect_err(|missing| eprintln!("\nxtask: SKIPPED the tests of dashboards: {missing}")).ok()
}

fn shown(command: &Command) -> String {
    let mut line = PathBuf::from(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    for arg in command.get_args() {
        line.push(' ');
        line.push_str(&arg.to_string_lossy());
    }
    line
}

fn summary(reports: &[Report]) -> String {
    let mut text = String::from("\n");
    for report in reports {
        let (word, why) = match &report.outcome {
            Outcome::Passed => ("ok", ""),
            Outcome::Failed => ("FAILED", ""),
            Outcome::Skipped(why) => ("SKIPPED", why.as_str()),
        };
        let seconds = report.took.as_secs_f64();
        let line = format!("{:10} {word:8} {seconds:7.1} s  {why}", report.step.name());
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_has_a_line_for_each_step() {
        let report = |step, outcome, tenths: u64| Report { step, outcome, took: Duration::from_millis(tenths * 100) };
        let skipped = Outcome::Skipped("no luacheck".into());
        let text = summary(&[
            report(Step::Fmt, Outcome::Passed, 4),
            report(Step::Lua, skipped, 0),
            report(Step::Clippy, Outcome::Failed, 1234),
        ]);
        let lines: Vec<_> = text.trim().lines().collect();
        assert_eq!(
            lines,
            [
                "fmt        ok           0.4 s",
                "lua        SKIPPED      0.0 s  no luacheck",
                "clippy     FAILED     123.4 s",
            ]
        );
    }
}

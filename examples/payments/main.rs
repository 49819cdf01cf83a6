//! A small payment service that cannot charge an order twice without saying so, shown with real processes and a real Redis.
//!
//! Worker processes charge orders against a ledger outside Redis; this process plays the broker, which delivers *at least
//! once*, kills workers, restarts Redis, and in the end reads the ledger. Only the ledger decides the exit status.
//!
//! ```text
//! cargo run --example payments                      # seven scenarios, a table, the metrics
//! cargo run --example payments -- storm --kills 50  # workers killed at random moments
//! cargo run --example payments -- serve             # a load that goes on, with metrics to be scraped
//! ```
//!
//! Begin with `charge.rs`: it is the service, and all that a user of the library writes. The rest:
//!
//! | file | holds |
//! |---|---|
//! | `worker.rs` | a worker process: engine, metrics, deliveries from standard input |
//! | `gateway.rs`, `ledger.rs` | the outside world: where a charge has its effect, and where it can be interrupted |
//! | `wire.rs` | what broker and worker tell each other |
//! | `process.rs`, `broker.rs` | a worker as the broker sees it; delivering at least once |
//! | `stage.rs`, `scenarios/` | where the demo plays, and what is played |
//! | `storm.rs` | the same under many kills |
//! | `serve/` | a service under a steady load, and what can go wrong with it |
//! | `report.rs`, `totals.rs`, `out.rs` | what is shown |

mod broker;
mod charge;
mod error;
mod gateway;
mod ledger;
mod out;
mod process;
mod report;
mod scenarios;
mod serve;
mod stage;
mod storm;
mod totals;
mod wire;
mod worker;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;
use crate::out::Out;

/// Charges orders with worker processes, repeats and kills them, and checks the ledger
#[derive(Debug, Parser)]
#[command(
    name = "payments",
    after_help = "Uses the Redis at REDIS_URL if that is set, under keys of its own which it removes; else private servers."
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print one JSON object to standard output, and all other text to standard error
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Kill workers at random moments of a charge, and look for an effect that repeats in silence
    Storm(storm::Args),
    /// Keep a steady load and serve its metrics to Prometheus, until stopped
    Serve(serve::Args),
    /// Charge what standard input delivers (the demo starts such processes itself)
    #[command(hide = true)]
    Worker(worker::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let out = if cli.json { Out::Stderr } else { Out::Stdout };
    let ok = match cli.command {
        Some(Command::Worker(args)) => worker::run(&args).map(|()| true),
        Some(Command::Serve(args)) => serve::run(&args, out).map(|()| true),
        Some(Command::Storm(args)) => storm::run(&args, out).map(|storm| storm.conclude(out, cli.json)),
        None => scenarios::run(out).map(|results| results.conclude(out, cli.json)),
    };
    match ok {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => failed(&error, cli.json),
    }
}

/// Nothing was shown, neither good nor bad: not the status of a ledger that disagrees.
fn failed(error: &Error, json: bool) -> ExitCode {
    Out::Stderr.line(format_args!("payments: {error}"));
    if json {
        Out::Stdout.line(serde_json::json!({"ok": false, "scenarios": [], "error": error.to_string()}));
    }
    ExitCode::from(2)
}

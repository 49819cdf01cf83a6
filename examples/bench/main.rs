//! What idem costs beside the same commands written by hand: `cargo xtask bench`.
//!
//! Both sides talk to the same private server in the same run, in alternating rounds, so that a busy machine hurts both alike: what counts are the
//! ratios. Standard output carries the result only.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool talks through them")]

mod by_hand;
mod commands;
mod effect;
mod in_process;
mod load;
mod memory;
mod report;
mod side;
mod throughput;
mod with_idem;

use std::process::ExitCode;

use clap::Parser;
use idem::{Engine, RedisStore};
use test_support::RedisServer;

use report::Report;
use side::Failure;
use throughput::Plan;

/// What idem costs beside the same commands written by hand
#[derive(Parser)]
struct Args {
    /// Print one JSON object to standard output, and nothing else there
    #[arg(long)]
    json: bool,
    /// Fewer and shorter rounds, fewer keys: to see that it works, not to quote
    #[arg(long)]
    quick: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(args.quick) {
        Ok(report) if args.json => println!("{}", report.json()),
        Ok(report) => print!("{}", report.table()),
        Err(failure) => {
            eprintln!("bench: {failure}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn run(quick: bool) -> Result<Report, Failure> {
    let (plan, keys) = if quick { (Plan::QUICK, memory::FEW_KEYS) } else { (Plan::FULL, memory::KEYS) };
    let server = RedisServer::start()?;
    // One for all that goes to the server: connections live on the runtime that made them.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    idem::install(Engine::new(RedisStore::from_url(&server.url())?))?;
    let by_hand = runtime.block_on(by_hand::ByHand::connect(&server.url()))?;
    Ok(Report {
        commands_per_call: commands::count(&runtime, &server)?,
        rows: throughput::compare(&runtime, &server, &by_hand, plan)?,
        bytes_per_key: memory::compare(&runtime, &server, &by_hand, keys)?,
        in_process_ns: in_process::measure(quick)?,
    })
}

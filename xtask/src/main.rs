//! The project's own commands: `cargo xtask demo | test | bench | picture`.
//!
//! Each command has a file of its own; what they need of the machine is in `setup`. Standard output carries results only, progress and complaints go
//! to standard error. Exit status: 0 all well, 1 something failed, 2 the machine lacks what cannot be installed here (and, from clap, a wrong call).

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool talks through them")]

mod bench;
mod cargo;
mod demo;
mod error;
mod lua;
mod package;
mod picture;
mod setup;
mod steps;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "The project's own commands")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Show the library at work: payments on a real Redis, with crashes and repeats
    Demo(demo::Args),
    /// Check everything: formatting, lints, docs and all tests
    Test(test::Args),
    /// Compare with the same commands written by hand: throughput, memory, commands per call
    Bench(bench::Args),
    /// Draw docs/dashboard.png anew, from what the demo tells a Prometheus
    Picture(picture::Args),
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Demo(args) => demo::run(&args),
        Task::Test(args) => test::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::Picture(args) => picture::run(&args),
    };
    done.unwrap_or_else(|error| {
        eprintln!("xtask: {error}");
        error.exit_code()
    })
}

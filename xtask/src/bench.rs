//! `cargo xtask bench`: the example `bench`, built for speed, on a private Redis.

use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use crate::cargo::{cargo, status};
use crate::error::Error;
use crate::setup;

const EXAMPLE: [&str; 5] = ["--release", "--package", "idem-rs", "--example", "bench"];

#[derive(clap::Args)]
#[command(
    after_help = "The figures that count are the ratios: both sides run in turns, so a busy machine hurts both alike. Even so, leave it alone meanwhile."
)]
pub(crate) struct Args {
    /// Print one JSON object to standard output, and nothing else there
    #[arg(long)]
    json: bool,
    /// Fewer and shorter rounds, fewer keys: to see that it works, not to quote
    #[arg(long)]
    quick: bool,
}

/// Comes back only on failure: the example takes the place of this process.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Error> {
    let server = setup::redis_server()?;
    // First and by itself, so that a long first build shows its progress.
    if !status(cargo(&["build"]).args(EXAMPLE))?.success() {
        return Ok(ExitCode::FAILURE);
    }
    let mut bench = cargo(&["run", "--quiet"]);
    bench.args(EXAMPLE).arg("--").env("IDEM_REDIS_SERVER", server);
    for (flag, is_set) in [("--json", args.json), ("--quick", args.quick)] {
        if is_set {
            bench.arg(flag);
        }
    }
    Err(Error::Run { source: bench.exec(), program: "the example bench".into() })
}

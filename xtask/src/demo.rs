//! `cargo xtask demo`: the example `payments` on a real Redis.

use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use crate::cargo::{cargo, status};
use crate::error::Error;
use crate::setup;

const EXAMPLE: [&str; 4] = ["--package", "idem-rs", "--example", "payments"];

#[derive(clap::Args)]
#[command(after_help = "Uses the Redis at REDIS_URL if that is set, else private servers of its own.")]
pub(crate) struct Args {
    /// Print one JSON object to standard output, and nothing else there
    #[arg(long)]
    json: bool,
    /// Keep a steady load instead, and serve its metrics to Prometheus until stopped; see `-- --help`
    #[arg(long, conflicts_with = "json")]
    serve: bool,
    /// What to serve, and where: `-- --port 9000 --healthy`
    #[arg(last = true, requires = "serve")]
    how: Vec<String>,
}

/// Comes back only on failure: the example takes the place of this process, so its exit status is ours and a signal meant for us reaches it.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Error> {
    // To serve, it always has a server of its own: it restarts it.
    let needs_none = setup::is_set("REDIS_URL") && !args.serve;
    let server = if needs_none { None } else { Some(setup::redis_server()?) };
    // First and by itself, so that a long first build shows its progress while the demo's own run stays quiet.
    if !status(cargo(&["build"]).args(EXAMPLE))?.success() {
        return Ok(ExitCode::FAILURE);
    }
    let mut demo = cargo(&["run", "--quiet"]);
    demo.args(EXAMPLE);
    if args.json {
        demo.args(["--", "--json"]);
    }
    if args.serve {
        demo.args(["--", "serve"]).args(&args.how);
    }
    if let Some(server) = server {
        demo.env("IDEM_REDIS_SERVER", server);
    }
    Err(Error::Run { source: demo.exec(), program: "the example payments".into() })
}

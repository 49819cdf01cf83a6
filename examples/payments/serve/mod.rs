//! The service under a steady load, with its metrics to be scraped, until it is stopped.
//!
//! | file | holds |
//! |---|---|
//! | `service.rs` | the annotated functions, each with another policy |
//! | `shop.rs` | what they run on: a private Redis behind a proxy, an engine, a way to meddle with records |
//! | `load.rs` | what customers do, and what goes wrong every day |
//! | `cause.rs`, `crash.rs`, `outage.rs` | what each alert of `dashboards/` is there for, made to happen |
//! | `http.rs` | `/metrics` |

mod cause;
mod crash;
mod http;
mod load;
mod outage;
mod service;
mod shop;

use std::io::Read;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::runtime::{self, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::error::Error;
use crate::out::Out;
use cause::Cause;
use load::Load;
use shop::Shop;

/// The store is read as often: often enough for who looks at a dashboard, cheap on a server of this size.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The port of 127.0.0.1 that /metrics is served at; a free one unless given
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Orders per second
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rate: u32,
    /// Nothing that an alert is for: repeats, some waits, conflicts and errors
    #[arg(long, conflicts_with = "provoke")]
    healthy: bool,
    /// A healthy load beside the cause of this alert; may be given several times
    #[arg(long, value_enum, value_name = "CAUSE")]
    provoke: Vec<Cause>,
    /// End with standard input, as whoever starts this from a program wants it
    #[arg(long, hide = true)]
    while_stdin: bool,
}

/// Serves until it is told to stop.
pub(crate) fn run(args: &Args, out: Out) -> Result<(), Error> {
    let metrics = record()?;
    // On a thread of its own, as the exporter's is: a runtime that is blocked must not keep its metrics from being seen.
    let address = http::serve(args.port, metrics)?;
    out.line(format_args!("metrics: http://{address}/metrics"));
    runtime(&args.provoke)?.block_on(async {
        let shop = Arc::new(Shop::open()?);
        let _sampler = shop.engine.sample(SAMPLE_INTERVAL);
        Load { rate: args.rate, repeats: !args.provoke.contains(&Cause::DuplicatesZero) }.start(&shop);
        if args.provoke.is_empty() && !args.healthy {
            load::start_bad_days(&shop);
        }
        for cause in &args.provoke {
            cause.start(&shop, Duration::ZERO);
        }
        stopped(args.while_stdin).await
    })
}

fn record() -> Result<PrometheusHandle, Error> {
    let mut exporter = PrometheusBuilder::new();
    for metric in idem::metrics::ALL.iter().filter(|metric| !metric.buckets().is_empty()) {
        let name = Matcher::Full(metric.name.to_owned());
        exporter = exporter.set_buckets_for_metric(name, metric.buckets()).map_err(Error::setup)?;
    }
    exporter.install_recorder().map_err(Error::setup)
}

/// A service has its claims renewed by a thread of their own on a multi-thread runtime, and so never late for its own
/// bodies' sake.
fn runtime(causes: &[Cause]) -> Result<Runtime, Error> {
    let runtime = if causes.contains(&Cause::KeeperLag) {
        runtime::Builder::new_current_thread().enable_all().build()
    } else {
        runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
    };
    Ok(runtime?)
}

/// Waits for Ctrl-C, `SIGTERM`, or the end of standard input.
async fn stopped(while_stdin: bool) -> Result<(), Error> {
    let (ended, end) = oneshot::channel();
    let mut terminate = signal(SignalKind::terminate())?;
    if while_stdin {
        thread::spawn(move || {
            let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
            let _ = ended.send(());
        });
        tokio::select! {
            _ = end => {}
            _ = terminate.recv() => {}
        }
        return Ok(());
    }
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
        _ = terminate.recv() => Ok(()),
    }
}

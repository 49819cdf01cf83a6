//! A worker process: set up as any service that uses idem, fed by standard input instead of a queue.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use deadpool_redis::{Config, Runtime};
use idem::{Engine, ErrorKind, Policy, RedisStore};
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::Notify;

use crate::charge::{ChargeError, charge};
use crate::error::Error;
use crate::gateway::{Gateway, GatewayError};
use crate::ledger::Ledger;
use crate::wire::{Answer, Report, Request, tell};

/// Names the server. In the environment and not among the arguments, which everybody on the machine can read: a URL may hold
/// a password.
pub(crate) const URL_VARIABLE: &str = "REDIS_URL";
/// Long enough for a demo, short enough for what it leaves behind on a shared server when it is killed.
const RETENTION: Duration = Duration::from_secs(600);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What all keys begin with
    #[arg(long)]
    prefix: String,
    /// The file that charges are written to
    #[arg(long)]
    ledger: PathBuf,
    /// After how long without a sign of life a worker counts as crashed
    #[arg(long)]
    lease_ms: u64,
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run(args: &Args) -> Result<(), Error> {
    let metrics = PrometheusBuilder::new().install_recorder().map_err(Error::setup)?;
    idem::install(engine(args)?).map_err(Error::setup)?;
    let ledger = Ledger::open(&args.ledger)?;
    let resume = Arc::new(Notify::new());
    tell(&Report::Ready);

    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        match serde_json::from_str(&line)? {
            Request::Deliver(delivery) => {
                let (faults, order) = (delivery.faults, delivery.order);
                let gateway = Gateway { ledger: ledger.clone(), faults, resume: Arc::clone(&resume), tell };
                // In a task, so that this loop goes on to hear that a charge may resume.
                tokio::spawn(async move {
                    let answer = charge(&gateway, &order).await;
                    tell(&Report::Answer(answer.map_or_else(|error| refused(&error), answered)));
                });
            }
            Request::Resume => resume.notify_one(),
        }
    }
    // The broker is done with this worker, or dead. A charge that still runs ends here as in a crash: that is always safe.
    tell(&Report::Metrics(metrics.render()));
    Ok(())
}

fn engine(args: &Args) -> Result<Engine, Error> {
    let url = env::var(URL_VARIABLE).map_err(Error::setup)?;
    let pool = Config::from_url(url).create_pool(Some(Runtime::Tokio1)).map_err(Error::setup)?;
    let store = RedisStore::builder(pool).prefix(&args.prefix).build().map_err(Error::setup)?;
    let policy = Policy::new().lease(Duration::from_millis(args.lease_ms)).retention(RETENTION);
    Engine::builder(store).policy(policy).build().map_err(Error::setup)
}

fn answered(outcome: idem::Outcome<crate::charge::Receipt>) -> Answer {
    let seen = outcome.seen().copied();
    let receipt = outcome.into_inner();
    let attempt = seen.map_or(0, |seen| seen.attempt());
    if seen.is_some_and(|seen| seen.is_replayed()) {
        Answer::Replayed { receipt, attempt }
    } else {
        Answer::Executed { receipt, attempt }
    }
}

/// What an HTTP service would turn into a status code: `error.status()`.
fn refused(error: &ChargeError) -> Answer {
    match error {
        ChargeError::Gateway(GatewayError::Declined) => Answer::Declined,
        ChargeError::Gateway(error) => Answer::Failed { error: error.to_string(), retryable: true },
        ChargeError::Idem(error) => match (error.kind(), error.retry_after()) {
            (ErrorKind::InFlight, Some(retry_after)) => {
                Answer::Conflict { retry_after_ms: u64::try_from(retry_after.as_millis()).unwrap_or(u64::MAX) }
            }
            (ErrorKind::Mismatch, _) => Answer::Mismatch,
            _ => Answer::Failed { error: error.to_string(), retryable: error.is_retryable() },
        },
    }
}

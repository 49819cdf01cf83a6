//! Where the demo plays: a Redis, a directory with the ledger, and what all workers have counted.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{env, process};

use tempfile::TempDir;
use test_support::RedisServer;

use crate::error::Error;
use crate::ledger::{self, Entry, Ledger};
use crate::out::Out;
use crate::process::Setup;
use crate::worker::URL_VARIABLE;

/// How long to wait for a server that may be gone.
const LIMIT: Duration = Duration::from_secs(5);

/// The place. It is cleared when dropped.
#[derive(Debug)]
pub(crate) struct Stage {
    redis: Redis,
    prefix: String,
    dir: TempDir,
}

#[derive(Debug)]
enum Redis {
    /// Ends with this process, however that ends.
    Private(RedisServer),
    /// Somebody's, who has other things on it.
    Shared { url: String },
}

impl Stage {
    /// The server named by `REDIS_URL`, or a private one; and an empty ledger.
    pub(crate) fn new() -> Result<Self, Error> {
        let redis = match env::var(URL_VARIABLE) {
            Ok(url) if !url.is_empty() => {
                // Now and not by a failing worker: it is the reader's mistake, not the library's.
                redis::cmd("PING").exec(&mut connect(&url)?)?;
                Redis::Shared { url }
            }
            _ => Redis::Private(RedisServer::start()?),
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let stage = Self {
            redis,
            prefix: format!("idem-demo-{}-{}", process::id(), now.as_micros()),
            dir: TempDir::with_prefix("idem-payments-")?,
        };
        Ledger::open(&stage.ledger_path())?;
        Ok(stage)
    }

    /// Whether the server is somebody else's, so that it cannot be restarted.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.redis, Redis::Shared { .. })
    }

    /// How workers are started here.
    pub(crate) fn setup(&self, lease: Duration) -> Setup {
        Setup { redis_url: self.url(), prefix: self.prefix.clone(), ledger: self.ledger_path(), lease }
    }

    /// All charges so far.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, Error> {
        Ok(ledger::read(&self.ledger_path())?)
    }

    /// Tells where everything is.
    pub(crate) fn introduce(&self, out: Out) {
        match &self.redis {
            Redis::Private(server) => out.line(format_args!("redis:  a private one on port {}", server.port())),
            Redis::Shared { .. } => {
                out.line(format_args!(
                    "redis:  the one at {URL_VARIABLE}, under keys {}:*, removed at the end",
                    self.prefix
                ));
            }
        }
        out.line(format_args!("ledger: {}, outside Redis", self.ledger_path().display()));
    }

    /// Leaves the ledger where it is, for somebody to look into.
    pub(crate) fn keep_ledger(&mut self, out: Out) {
        self.dir.disable_cleanup(true);
        out.line(format_args!("The ledger stays at {}.", self.ledger_path().display()));
    }

    fn url(&self) -> String {
        match &self.redis {
            Redis::Private(server) => server.url(),
            Redis::Shared { url } => url.clone(),
        }
    }

    fn ledger_path(&self) -> PathBuf {
        self.dir.path().join("ledger.jsonl")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Redis::Shared { url } = &self.redis
            && let Err(error) = remove_keys(url, &self.prefix)
        {
            // They have a retention of some minutes; whoever watches the server may still want to know.
            Out::Stderr.line(format_args!("payments: the keys {}:* could not be removed: {error}", self.prefix));
        }
    }
}

fn connect(url: &str) -> redis::RedisResult<redis::Connection> {
    let connection = redis::Client::open(url)?.get_connection_with_timeout(LIMIT)?;
    connection.set_read_timeout(Some(LIMIT))?;
    Ok(connection)
}

fn remove_keys(url: &str, prefix: &str) -> redis::RedisResult<()> {
    let mut connection = connect(url)?;
    let mut scan = redis::cmd("SCAN");
    scan.cursor_arg(0).arg("MATCH").arg(format!("{prefix}:*")).arg("COUNT").arg(1000);
    let keys: Vec<String> = scan.iter(&mut connection)?.collect::<Result<_, _>>()?;
    for key in keys {
        redis::cmd("DEL").arg(key).exec(&mut connection)?;
    }
    Ok(())
}

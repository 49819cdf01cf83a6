//! What can go wrong with a private server.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

/// Why a private server, or a connection to it, did not do as asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no `redis-server` on this machine.
    #[error("no redis-server found: install one, or set IDEM_REDIS_SERVER to its path")]
    NotFound,
    /// There is no such program on this machine.
    #[error("no {0} found")]
    Missing(&'static str),
    /// The program exists by name, but the system refused to run it.
    #[error("cannot run {}: {source}", program.display())]
    Spawn {
        /// What should have run.
        program: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The server ended before it answered; most often an unknown option.
    #[error("the server ended while starting ({status}); its log:\n{log}")]
    Exited {
        /// How it ended.
        status: ExitStatus,
        /// What it wrote since it was started.
        log: String,
    },
    /// Another process took the port between its choice and its use.
    #[error("port {0} was taken by another process")]
    PortTaken(u16),
    /// The method needs a running server, and this one was stopped or killed.
    #[error("the server is not running")]
    NotRunning,
    /// A condition did not come true in time.
    #[error("{what}: not within {limit:?}")]
    Timeout {
        /// What was waited for.
        what: &'static str,
        /// How long.
        limit: Duration,
    },
    /// The connection failed, or a file could not be used.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The server refused what this crate itself asked for.
    #[error("the server refused: {0}")]
    Refused(String),
    /// What came back is not in Redis' protocol.
    #[error("not a reply of the Redis protocol: {0}")]
    Protocol(String),
    /// An HTTP server gave another answer than "200 OK".
    #[error("HTTP status {status}: {body}")]
    Http {
        /// The status.
        status: u16,
        /// What came with it.
        body: String,
    },
    /// The monitor's stream ended, so nothing can be said of what followed.
    #[error("the monitor's stream ended: {0}")]
    MonitorEnded(String),
}

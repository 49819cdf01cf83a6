//! A `redis-server` of one's own: started, killed, frozen and restarted at will.

mod process;

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tempfile::TempDir;

use crate::port::free_port;
use crate::program::named_or_found;
use crate::{Client, Error, Reply};
use process::{Launch, Process, Readiness};

/// Names the `redis-server` to use, before every other place.
const PROGRAM_VARIABLE: &str = "IDEM_REDIS_SERVER";
const PROGRAM: &str = "redis-server";
/// Other processes may take a port first, but hardly this often.
const PORT_TRIES: u32 = 20;
const START_LIMIT: Duration = Duration::from_secs(30);

/// The `redis-server` of this machine: the one named by `IDEM_REDIS_SERVER` (taken at its word, so that a mistake in it shows), else the first on
/// `PATH`, else one in the usual places.
#[must_use]
pub fn find() -> Option<PathBuf> {
    named_or_found(PROGRAM_VARIABLE, PROGRAM)
}

/// A private server: own port, own directory, loopback only. It ends, and its directory goes, when the value is dropped and also when the process is
/// killed.
///
/// All methods take `&self`, so that a test can share the server with its tasks.
#[derive(Debug)]
pub struct RedisServer {
    // Before the directory: the process must be gone when its files are removed.
    process: Mutex<Option<Process>>,
    launch: Launch,
    port: u16,
    dir: TempDir,
}

/// Options for a [`RedisServer`].
#[must_use = "a builder does nothing until `start` is called"]
#[derive(Debug)]
pub struct Builder {
    program: Option<PathBuf>,
    args: Vec<String>,
    envs: Vec<(String, String)>,
    start_limit: Duration,
}

impl Builder {
    /// Uses this `redis-server` instead of the one that [`find`] finds. A script in its place must `exec` the server.
    pub fn program(mut self, path: impl Into<PathBuf>) -> Self {
        self.program = Some(path.into());
        self
    }

    /// Sets one configuration directive, such as `("appendonly", "yes")`.
    pub fn option(self, name: &str, value: &str) -> Self {
        self.args([format!("--{name}").as_str(), value])
    }

    /// Adds arguments as they stand, such as `["--maxmemory", "1mb"]`. Later ones win over earlier ones and over this crate's own.
    pub fn args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.args.extend(args.into_iter().map(str::to_owned));
        self
    }

    /// Sets an environment variable for the server, such as `("LC_ALL", "de_DE.UTF-8")`.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.envs.push((name.to_owned(), value.to_owned()));
        self
    }

    /// How long the server may take to be ready, at the start and at each restart. Thirty seconds unless set.
    pub fn start_limit(mut self, limit: Duration) -> Self {
        self.start_limit = limit;
        self
    }

    /// Starts the server and waits until it serves.
    pub fn start(self) -> Result<RedisServer, Error> {
        let dir = TempDir::with_prefix("idem-redis-")?;
        let launch = Launch {
            program: self.program.or_else(find).ok_or(Error::NotFound)?,
            args: self.args,
            envs: self.envs,
            dir: dir.path().to_owned(),
            start_limit: self.start_limit,
        };
        let mut lost_port = 0;
        for _ in 0..PORT_TRIES {
            let port = free_port()?;
            match launch.run(port, Readiness::Serving) {
                Ok(process) => {
                    return Ok(RedisServer { process: Mutex::new(Some(process)), launch, port, dir });
                }
                Err(Error::PortTaken(_)) => lost_port = port,
                Err(other) => return Err(other),
            }
        }
        Err(Error::PortTaken(lost_port))
    }
}

impl RedisServer {
    /// Starts a server with no options and no persistence.
    pub fn start() -> Result<Self, Error> {
        Self::builder().start()
    }

    /// Options first, then [`Builder::start`].
    pub fn builder() -> Builder {
        Builder { program: None, args: Vec::new(), envs: Vec::new(), start_limit: START_LIMIT }
    }

    /// Where clients connect, as `redis://127.0.0.1:<port>`. It stays the same over restarts.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://{}:{}", Ipv4Addr::LOCALHOST, self.port)
    }

    /// The port, for the whole life of this value.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process number of the running server; `None` while it is down.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.process().as_ref().map(Process::id)
    }

    /// Where the server keeps its data.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// All that the server has logged, over restarts; to be shown when a test fails.
    pub fn log(&self) -> Result<String, Error> {
        self.launch.log()
    }

    /// Sends one command on a connection of its own and gives the reply. An error of the server is a [`Reply::Error`].
    pub fn command<W: AsRef<[u8]>>(&self, words: &[W]) -> Result<Reply, Error> {
        self.client()?.call(words)
    }

    /// A connection that stays, for what lives on one: `SELECT`, `MULTI`, a blocking command.
    pub fn client(&self) -> Result<Client, Error> {
        Client::connect(self.port)
    }

    /// Ends the server as `kill -9` does. What is not on disk by then is lost.
    pub fn kill(&self) -> Result<(), Error> {
        // Dropping the process kills it and waits for its end.
        self.take_process().map(drop)
    }

    /// Asks the server to end (`SIGTERM`) and waits until it has. Data survive only as far as the options say so (`appendonly`, `save`).
    pub fn stop(&self) -> Result<(), Error> {
        self.take_process()?.stop()
    }

    /// Starts the server again on the same port and directory, and waits until it serves. A running server first writes all its data to disk; after
    /// [`kill`](Self::kill) or [`stop`](Self::stop) the new one has what the old one left there.
    pub fn restart(&self) -> Result<(), Error> {
        self.run_again(Readiness::Serving)
    }

    /// As [`restart`](Self::restart), but returns as soon as the server answers, which may be with `LOADING` for as long as its data take (see the
    /// directives `key-load-delay` and `loading-process-events-interval-bytes`, and turn off `rdbcompression`, else the data
    /// rarely fill that interval).
    pub fn restart_while_loading(&self) -> Result<(), Error> {
        self.run_again(Readiness::Answering)
    }

    /// Stops the server in its tracks (`SIGSTOP`): connections stay open, the system goes on accepting new ones, and nothing is answered.
    pub fn freeze(&self) -> Result<(), Error> {
        self.process().as_ref().ok_or(Error::NotRunning)?.freeze()
    }

    /// Lets a frozen server go on (`SIGCONT`); it then works through everything that has reached it.
    pub fn thaw(&self) -> Result<(), Error> {
        self.process().as_ref().ok_or(Error::NotRunning)?.thaw()
    }

    fn run_again(&self, readiness: Readiness) -> Result<(), Error> {
        let mut process = self.process();
        if let Some(running) = process.as_ref() {
            running.thaw()?;
            save_and_shut_down(self.port)?;
            running.await_end()?;
            *process = None;
        }
        *process = Some(self.launch.run(self.port, readiness)?);
        Ok(())
    }

    fn take_process(&self) -> Result<Process, Error> {
        self.process().take().ok_or(Error::NotRunning)
    }

    /// A test that panicked while it held the lock must not keep `Drop` from its work.
    fn process(&self) -> MutexGuard<'_, Option<Process>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A server that ends says nothing more; only a refusal is answered.
fn save_and_shut_down(port: u16) -> Result<(), Error> {
    match Client::connect(port)?.call(&["SHUTDOWN", "SAVE"]) {
        Ok(Reply::Error(text)) => Err(Error::Refused(text)),
        Ok(_) | Err(_) => Ok(()),
    }
}

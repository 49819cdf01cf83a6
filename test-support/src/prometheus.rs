//! A Prometheus of one's own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::lifeline::Lifeline;
use crate::port::free_port;
use crate::program::named_or_found;
use crate::wait::wait_until;
use crate::{Error, http};

/// Names the `prometheus` to use, before every other place.
const PROGRAM_VARIABLE: &str = "IDEM_PROMETHEUS";
const PROGRAM: &str = "prometheus";
const LOG: &str = "prometheus.log";
const PORT_TRIES: u32 = 5;
const START_LIMIT: Duration = Duration::from_secs(60);

/// The `prometheus` of this machine: the one named by `IDEM_PROMETHEUS`, else one on `PATH` or in the usual places.
#[must_use]
pub fn find() -> Option<PathBuf> {
    named_or_found(PROGRAM_VARIABLE, PROGRAM)
}

/// A private server: own port, own directory, loopback only. It ends, and its directory goes, when the value is dropped and
/// also when the process is killed.
#[derive(Debug)]
pub struct Prometheus {
    // Before the directory: the process must be gone when its files are removed.
    _process: Process,
    port: u16,
    dir: TempDir,
}

/// A running server. Dropping it ends it at once.
#[derive(Debug)]
struct Process {
    // Before the child: once the child is reaped its number may belong to somebody else, so the guard must be gone by then.
    lifeline: Option<Lifeline>,
    child: Child,
}

impl Prometheus {
    /// Starts a server with the configuration `config`, and waits until it is ready. `files` are put beside the
    /// configuration, by name.
    pub fn start(config: &str, files: &[(&str, &str)]) -> Result<Self, Error> {
        let program = find().ok_or(Error::Missing(PROGRAM))?;
        let dir = TempDir::with_prefix("idem-prometheus-")?;
        for (name, text) in files.iter().chain(&[("prometheus.yml", config)]) {
            fs::write(dir.path().join(name), text)?;
        }
        let mut tries = 0;
        loop {
            tries += 1;
            let port = free_port()?;
            match Process::start(&program, dir.path(), port) {
                Ok(process) => return Ok(Self { _process: process, port, dir }),
                // Somebody else was faster.
                Err(Error::Exited { log, .. }) if log.contains("address already in use") && tries < PORT_TRIES => {}
                Err(other) => return Err(other),
            }
        }
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What it answers to a query of its API: `/api/v1/…`.
    pub fn get(&self, path: &str) -> Result<String, Error> {
        http::get(self.port, path)
    }

    /// What it has written to its log.
    pub fn log(&self) -> Result<String, Error> {
        Ok(fs::read_to_string(self.dir.path().join(LOG))?)
    }
}

impl Process {
    fn start(program: &Path, dir: &Path, port: u16) -> Result<Self, Error> {
        let log = File::create(dir.join(LOG))?;
        let child = Command::new(program)
            .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data", "--log.level=warn"])
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .current_dir(dir)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .map_err(|source| Error::Spawn { program: program.to_owned(), source })?;
        // From here on `Drop` ends the child on every way out.
        let mut process = Self { lifeline: None, child };
        process.lifeline = Some(Lifeline::tie(process.child.id(), dir)?);
        process.await_ready(dir, port)?;
        Ok(process)
    }

    fn await_ready(&mut self, dir: &Path, port: u16) -> Result<(), Error> {
        let mut ended = None;
        let ready = wait_until(START_LIMIT, || {
            ended = self.child.try_wait().transpose();
            ended.is_some() || http::get(port, "/-/ready").is_ok()
        });
        match ended {
            Some(status) => {
                // Its number is free again, and the guard must not use it.
                self.lifeline = None;
                Err(Error::Exited { status: status?, log: fs::read_to_string(dir.join(LOG))? })
            }
            None if ready => Ok(()),
            None => Err(Error::Timeout { what: "the start of prometheus", limit: START_LIMIT }),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.lifeline = None;
        // A failure means that the process is gone already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

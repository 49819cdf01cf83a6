//! A worker process as the broker sees it.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::error::Error;
use crate::wire::{Answer, Delivery, Report, Request};
use crate::worker::URL_VARIABLE;

/// How long a worker may say nothing where it must say something. Far more than it needs, so that only a bug gets there.
const LIMIT: Duration = Duration::from_secs(30);

/// How to start workers.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) redis_url: String,
    pub(crate) prefix: String,
    pub(crate) ledger: PathBuf,
    pub(crate) lease: Duration,
}

/// A running worker. Dropping it kills it, so that none outlives this process; should this process be killed itself, the end
/// of its standard input ends the worker.
#[derive(Debug)]
pub(crate) struct Worker {
    child: Child,
    stdin: Option<ChildStdin>,
    reports: Receiver<Result<Report, Error>>,
}

impl Worker {
    /// Starts a worker and waits until it is ready.
    pub(crate) fn start(setup: &Setup) -> Result<Self, Error> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("worker")
            .args(["--prefix", &setup.prefix, "--lease-ms", &setup.lease.as_millis().to_string()])
            .arg("--ledger")
            .arg(&setup.ledger)
            .env(URL_VARIABLE, &setup.redis_url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let worker = Self { child, stdin, reports: listen(stdout) };
        match worker.report()? {
            Report::Ready => Ok(worker),
            said => Err(worker.unexpected(said)),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn deliver(&mut self, delivery: Delivery) -> Result<(), Error> {
        self.send(&Request::Deliver(delivery))
    }

    /// Lets the charge go on that stands still.
    pub(crate) fn resume(&mut self) -> Result<(), Error> {
        self.send(&Request::Resume)
    }

    /// The next that the worker has to say.
    pub(crate) fn report(&self) -> Result<Report, Error> {
        let pid = self.pid();
        self.reports.recv_timeout(LIMIT).map_err(|error| match error {
            RecvTimeoutError::Timeout => Error::WorkerSilent { pid, limit: LIMIT },
            RecvTimeoutError::Disconnected => Error::WorkerEnded { pid },
        })?
    }

    /// The answer to the delivery under way.
    pub(crate) fn answer(&self) -> Result<Answer, Error> {
        loop {
            match self.report()? {
                Report::Answer(answer) => return Ok(answer),
                Report::Charging | Report::Charged => {}
                said => return Err(self.unexpected(said)),
            }
        }
    }

    /// Ends the worker as a crash does (`SIGKILL`), and waits until it is gone.
    pub(crate) fn kill(self) {
        drop(self);
    }

    /// Ends the worker in an orderly way; gives what it has counted.
    pub(crate) fn finish(mut self) -> Result<String, Error> {
        self.stdin = None;
        let metrics = match self.report()? {
            Report::Metrics(metrics) => metrics,
            said => return Err(self.unexpected(said)),
        };
        self.child.wait()?;
        Ok(metrics)
    }

    fn send(&mut self, request: &Request) -> Result<(), Error> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        let pid = self.pid();
        self.stdin.as_mut().ok_or(Error::WorkerEnded { pid })?.write_all(&line)?;
        Ok(())
    }

    pub(crate) fn unexpected(&self, said: Report) -> Error {
        Error::Unexpected { pid: self.pid(), said }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A failure means that it is gone already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads on a thread of its own: a wait with a limit needs a channel, and a worker must never wait for its reader.
fn listen(stdout: Option<ChildStdout>) -> Receiver<Result<Report, Error>> {
    let (reports, inbox) = mpsc::channel();
    thread::spawn(move || {
        for line in stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
            let report = line.map_err(Error::from).and_then(|line| Ok(serde_json::from_str(&line)?));
            if reports.send(report).is_err() {
                return;
            }
        }
    });
    inbox
}

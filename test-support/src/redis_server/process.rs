//! One run of a `redis-server` process, from its start to its end.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process, waitid};

use crate::lifeline::Lifeline;
use crate::wait::wait_until;
use crate::{Client, Error, Reply};

/// Between two looks at a starting server.
const PAUSE: Duration = Duration::from_millis(5);
/// How long one look may take.
const PROBE_LIMIT: Duration = Duration::from_secs(2);
/// How long a server may take to stop; Redis itself gives its replicas up to ten seconds.
const STOP_LIMIT: Duration = Duration::from_secs(20);

/// How to start a server, again and again with the same data.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    pub(super) envs: Vec<(String, String)>,
    pub(super) dir: PathBuf,
    pub(super) start_limit: Duration,
}

/// What a server must answer to count as started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Readiness {
    /// It serves: its data are loaded.
    Serving,
    /// It answers, even if only that it is still loading.
    Answering,
}

/// A running server. Dropping it ends it at once.
#[derive(Debug)]
pub(super) struct Process {
    // Before the child: once the child is reaped its number may belong to somebody else, so the guard must be gone by then.
    lifeline: Option<Lifeline>,
    child: Child,
}

impl Launch {
    /// Starts a server on `port` and waits until it is ready.
    pub(super) fn run(&self, port: u16, readiness: Readiness) -> Result<Process, Error> {
        let log = OpenOptions::new().create(true).append(true).open(self.log_path())?;
        let log_start = log.metadata()?.len();
        let child = Command::new(&self.program)
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--daemonize", "no", "--save", "", "--dir"])
            .arg(&self.dir)
            .args(&self.args)
            .envs(self.envs.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .map_err(|source| Error::Spawn { program: self.program.clone(), source })?;
        // From here on `Drop` ends the child on every way out.
        let mut process = Process { lifeline: None, child };
        process.lifeline = Some(Lifeline::tie(process.id(), &self.dir)?);
        self.await_ready(&mut process, port, readiness, log_start)?;
        Ok(process)
    }

    fn await_ready(&self, process: &mut Process, port: u16, readiness: Readiness, log_start: u64) -> Result<(), Error> {
        let start = Instant::now();
        while start.elapsed() < self.start_limit {
            if process.state()?.as_ref().is_some_and(has_ended) {
                return Err(self.early_end(process.reap()?, port, log_start));
            }
            match probe(port, process.id()) {
                Probe::Serving => return Ok(()),
                Probe::Loading if readiness == Readiness::Answering => return Ok(()),
                Probe::Stranger => return Err(Error::PortTaken(port)),
                Probe::Loading | Probe::Silent => thread::sleep(PAUSE),
            }
        }
        Err(Error::Timeout { what: "the start of redis-server", limit: self.start_limit })
    }

    fn early_end(&self, status: ExitStatus, port: u16, log_start: u64) -> Error {
        let log = self.log().unwrap_or_default();
        let log = usize::try_from(log_start).ok().and_then(|from| log.get(from..)).unwrap_or(&log);
        if log.contains("Address already in use") {
            Error::PortTaken(port)
        } else {
            let log = log.to_owned();
            Error::Exited { status, log }
        }
    }

    /// Everything the server has written so far.
    pub(super) fn log(&self) -> Result<String, Error> {
        let bytes = fs::read(self.log_path())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn log_path(&self) -> PathBuf {
        Path::new(&self.dir).join("redis.log")
    }
}

impl Process {
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks the server to end and waits until it has.
    pub(super) fn stop(self) -> Result<(), Error> {
        self.signal(Signal::TERM)?;
        // A frozen server gets to see the request only once it goes on.
        self.signal(Signal::CONT)?;
        self.await_end()
    }

    /// Waits for a server that was told to end.
    pub(super) fn await_end(&self) -> Result<(), Error> {
        self.await_state("the end of redis-server", has_ended)
    }

    /// Stops the process in its tracks and waits until it stands still.
    pub(super) fn freeze(&self) -> Result<(), Error> {
        self.signal(Signal::STOP)?;
        self.await_state("the freeze of redis-server", WaitIdStatus::stopped)
    }

    /// Lets a frozen process go on.
    pub(super) fn thaw(&self) -> Result<(), Error> {
        self.signal(Signal::CONT)
    }

    fn await_state(&self, what: &'static str, reached: impl Fn(&WaitIdStatus) -> bool) -> Result<(), Error> {
        let mut failure = None;
        let in_time = wait_until(STOP_LIMIT, || match self.state() {
            Ok(state) => state.as_ref().is_some_and(&reached),
            Err(error) => {
                failure = Some(error);
                true
            }
        });
        let limit = STOP_LIMIT;
        match failure {
            Some(error) => Err(error),
            None if in_time => Ok(()),
            None => Err(Error::Timeout { what, limit }),
        }
    }

    /// Whether the process has stopped or ended; `None` while it runs. It looks without reaping, so that the number stays taken until `Drop`.
    fn state(&self) -> Result<Option<WaitIdStatus>, Error> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(self.pid()?), options).map_err(io::Error::from)?)
    }

    /// How a process ended that has ended.
    fn reap(&mut self) -> Result<ExitStatus, Error> {
        self.lifeline = None;
        Ok(self.child.wait()?)
    }

    /// Only `reap` and `Drop` give up the child's number, so no other process can be meant here.
    fn signal(&self, signal: Signal) -> Result<(), Error> {
        kill_process(self.pid()?, signal).map_err(io::Error::from)?;
        Ok(())
    }

    fn pid(&self) -> Result<Pid, Error> {
        i32::try_from(self.id()).ok().and_then(Pid::from_raw).ok_or(Error::NotRunning)
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

fn has_ended(state: &WaitIdStatus) -> bool {
    state.exited() || state.killed() || state.dumped()
}

enum Probe {
    Silent,
    Loading,
    Serving,
    /// Somebody answers on the port, but not the process that was started.
    Stranger,
}

/// Asks who is there. The answer alone would not do: a server of another test may have won the port.
fn probe(port: u16, pid: u32) -> Probe {
    let Ok(mut client) = Client::connect_with_limit(port, PROBE_LIMIT) else {
        return Probe::Silent;
    };
    let (Ok(ping), Ok(info)) = (client.call(&["PING"]), client.call(&["INFO", "server"])) else {
        return Probe::Silent;
    };
    // Without a text the server wants a password first; a stranger would have made the child end, which the caller sees.
    let ours = format!("process_id:{pid}");
    if let Some(info) = info.text()
        && !info.lines().any(|line| line.trim_end() == ours)
    {
        return Probe::Stranger;
    }
    match ping {
        Reply::Error(text) if text.starts_with("LOADING") => Probe::Loading,
        _ => Probe::Serving,
    }
}

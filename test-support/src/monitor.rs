//! What a server was asked to do, command by command.

mod line;

use std::io::BufReader;
use std::net::{Shutdown, TcpStream};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::resp::read_line;
use crate::{Client, Error, RedisServer, Reply};

pub use line::Command;

/// How long a marker may take to come back. Far more than it needs, so that only a broken server gets there.
const SYNC_LIMIT: Duration = Duration::from_secs(20);
/// Begins every marker; commands that carry it are ours and never shown.
const MARKER: &str = "test-support-monitor";

/// Listens to all that a server executes (`MONITOR`).
///
/// Every method that returns commands first sends a marker and waits for it in the stream. Redis executes one command after the other, so what was
/// answered before such a call is in its result, without a pause. Commands of [`RedisServer::command`] count like those of any other client.
#[derive(Debug)]
pub struct Monitor {
    port: u16,
    stream: TcpStream,
    shared: Arc<Shared>,
    reader: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    heard: Mutex<Heard>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct Heard {
    commands: Vec<Command>,
    markers: Vec<String>,
    end: Option<String>,
}

impl Monitor {
    /// Starts to listen; what is sent after this returns is heard.
    pub fn start(server: &RedisServer) -> Result<Self, Error> {
        let port = server.port();
        let mut client = Client::connect(port)?;
        match client.call(&["MONITOR"])? {
            Reply::Simple(_) => {}
            other => return Err(Error::Refused(format!("{other:?}"))),
        }
        let reader = client.into_stream()?;
        let stream = reader.get_ref().try_clone()?;
        let shared = Arc::new(Shared::default());
        let reader = thread::Builder::new().name("redis-monitor".into()).spawn({
            let shared = Arc::clone(&shared);
            move || listen(reader, &shared)
        })?;
        Ok(Self { port, stream, shared, reader: Some(reader) })
    }

    /// The commands that clients sent since the start or the last [`take`](Self::take), in the order of execution; not those that scripts ran.
    pub fn client_commands(&self) -> Result<Vec<Command>, Error> {
        Ok(of_clients(self.sync_and_lock()?.commands.clone()))
    }

    /// As [`client_commands`](Self::client_commands), and with those of scripts: these have [`Command::is_from_script`] set.
    pub fn all_commands(&self) -> Result<Vec<Command>, Error> {
        Ok(self.sync_and_lock()?.commands.clone())
    }

    /// As [`client_commands`](Self::client_commands), and forgets all that it has heard.
    pub fn take(&self) -> Result<Vec<Command>, Error> {
        let commands = std::mem::take(&mut self.sync_and_lock()?.commands);
        Ok(of_clients(commands))
    }

    /// Waits until everything is heard that was answered before this call.
    pub fn sync(&self) -> Result<(), Error> {
        self.sync_and_lock().map(drop)
    }

    fn sync_and_lock(&self) -> Result<MutexGuard<'_, Heard>, Error> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let marker = format!("{MARKER}-{}-{number}", process::id());
        Client::connect(self.port)?.call(&["ECHO", marker.as_str()])?;

        let start = Instant::now();
        let mut heard = self.shared.lock();
        loop {
            if let Some(at) = heard.markers.iter().position(|seen| *seen == marker) {
                heard.markers.swap_remove(at);
                return Ok(heard);
            }
            if let Some(why) = &heard.end {
                return Err(Error::MonitorEnded(why.clone()));
            }
            let Some(left) = SYNC_LIMIT.checked_sub(start.elapsed()) else {
                return Err(Error::Timeout { what: "a marker in the monitor's stream", limit: SYNC_LIMIT });
            };
            heard = self.shared.wait(heard, left);
        }
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        // Wakes the reader; a failure means that the connection is gone and the reader with it.
        let _ = self.stream.shutdown(Shutdown::Both);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, heard: MutexGuard<'a, Heard>, limit: Duration) -> MutexGuard<'a, Heard> {
        match self.news.wait_timeout(heard, limit) {
            Ok((heard, _)) => heard,
            Err(poisoned) => poisoned.into_inner().0,
        }
    }
}

/// Reads the stream to its end. A line that cannot be read ends it too: a count with gaps would be worse than none.
fn listen(mut stream: BufReader<TcpStream>, shared: &Shared) {
    loop {
        let next = read_line(&mut stream).and_then(|line| Command::parse(&line));
        let mut heard = shared.lock();
        match next {
            Ok(command) => match marker_of(&command) {
                Some(marker) => heard.markers.push(marker),
                None => heard.commands.push(command),
            },
            Err(error) => heard.end = Some(error.to_string()),
        }
        let ended = heard.end.is_some();
        drop(heard);
        shared.news.notify_all();
        if ended {
            return;
        }
    }
}

fn marker_of(command: &Command) -> Option<String> {
    let marker = command.word(1)?;
    (command.name() == "ECHO" && marker.starts_with(MARKER)).then_some(marker)
}

fn of_clients(commands: Vec<Command>) -> Vec<Command> {
    commands.into_iter().filter(|command| !command.is_from_script()).collect()
}

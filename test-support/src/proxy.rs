//! A network that fails when told to: between one client and one server, on loopback.

mod link;
mod state;

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle, Scope};
use std::time::Duration;

use crate::Error;
use crate::wait::wait_until;
use link::{Link, Sockets};
use state::Shared;

/// On loopback an answer comes at once, also from a frozen process.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);
/// Before the next try to accept, where the system had no room for another connection.
const PAUSE: Duration = Duration::from_millis(10);

/// Which way bytes travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Requests.
    ToServer,
    /// Replies.
    ToClient,
}

/// How many connections a proxy has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connections {
    /// Carried now: not yet closed by both ends.
    pub open: usize,
    /// Carried since the start.
    pub accepted: u64,
    /// Closed at once since the start: told so, or because the server was not there.
    pub refused: u64,
}

/// Carries connections to a server on loopback, and hurts them on demand.
///
/// Every fault works on connections that are open and on those to come, from the moment the call returns, until it is taken back. What has arrived
/// passes three gates, in order: it is delayed, then held, then thrown away. Nothing overtakes. The end of a stream keeps its place behind the bytes
/// before it; a black hole does not throw it away but keeps it back.
///
/// The directions do not know of each other, as in a real network: what a client sent before it went away still reaches the server.
///
/// ```
/// use std::time::Duration;
/// use test_support::{Client, Direction, Proxy, RedisServer};
///
/// # fn main() -> Result<(), test_support::Error> {
/// let server = RedisServer::start()?;
/// let proxy = Proxy::start(server.port())?;
/// proxy.black_hole(Direction::ToClient, true);
/// let mut client = Client::connect(proxy.port())?;
/// client.send(&["SET", "k", "v"])?;
/// proxy.expect_swallowed(Direction::ToClient, 5, Duration::from_secs(10)); // "+OK\r\n"
/// assert_eq!(server.command(&["GET", "k"])?.text().as_deref(), Some("v"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Starts to carry connections to `target_port`. The server need not be there yet.
    pub fn start(target_port: u16) -> Result<Self, Error> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared::new(target_port));
        let acceptor = thread::Builder::new().name("proxy".into()).spawn({
            let shared = Arc::clone(&shared);
            // The scope ends with its last connection, so that whoever joins this thread has joined them all.
            move || thread::scope(|scope| accept(scope, &listener, &shared))
        })?;
        Ok(Self { port, shared, acceptor: Some(acceptor) })
    }

    /// Where clients connect, for the whole life of this value.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// As `redis://127.0.0.1:<port>`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://{}:{}", Ipv4Addr::LOCALHOST, self.port)
    }

    /// Holds everything back for `delay` from when it arrived, so that the delays of pipelined chunks do not add up. It counts for what is on its way,
    /// too: with a delay of zero, that is delivered at once.
    pub fn delay(&self, direction: Direction, delay: Duration) {
        self.shared.change(|state| state.way(direction).delay = delay);
    }

    /// Reads bytes and throws them away, or stops doing so. With `ToClient` alone it is the reply that gets lost.
    pub fn black_hole(&self, direction: Direction, on: bool) {
        self.shared.change(|state| state.way(direction).black_hole = on);
    }

    /// Keeps bytes back, or lets them go, in order: late messages. Those of a connection that is [`cut`](Self::cut) meanwhile are gone.
    pub fn hold(&self, direction: Direction, on: bool) {
        self.shared.change(|state| state.way(direction).hold = on);
    }

    /// Closes new connections as soon as they are made, or stops doing so. Open ones go on.
    pub fn refuse(&self, on: bool) {
        self.shared.change(|state| state.refuse = on);
    }

    /// Carries new connections to another server. Open ones stay where they are.
    pub fn retarget(&self, port: u16) {
        self.shared.change(|state| state.target = port);
    }

    /// Breaks all open connections at both ends, with a reset, and waits until they are closed. New ones are carried.
    ///
    /// A connection that has not carried a byte yet may count as new.
    pub fn cut(&self) {
        self.shared.cut();
    }

    /// How many connections there are and were.
    #[must_use]
    pub fn connections(&self) -> Connections {
        self.shared.connections()
    }

    /// How many bytes are kept back now, by a hold or a delay, over all open connections.
    #[must_use]
    pub fn held(&self, direction: Direction) -> u64 {
        self.shared.held(direction)
    }

    /// How many bytes a black hole has thrown away since the start.
    #[must_use]
    pub fn swallowed(&self, direction: Direction) -> u64 {
        self.shared.swallowed(direction)
    }

    /// Waits until at least `bytes` are kept back. It blocks the thread: in a single-threaded runtime look at [`held`](Self::held) instead.
    ///
    /// # Panics
    /// When they are not within `limit`.
    #[track_caller]
    pub fn expect_held(&self, direction: Direction, bytes: u64, limit: Duration) {
        let held = wait_until(limit, || self.held(direction) >= bytes);
        assert!(held, "{} of {bytes} bytes {direction:?} were held within {limit:?}", self.held(direction));
    }

    /// Waits until at least `bytes` were thrown away since the start; see [`expect_held`](Self::expect_held).
    ///
    /// # Panics
    /// When they were not within `limit`.
    #[track_caller]
    pub fn expect_swallowed(&self, direction: Direction, bytes: u64, limit: Duration) {
        let swallowed = wait_until(limit, || self.swallowed(direction) >= bytes);
        let count = self.swallowed(direction);
        assert!(swallowed, "{count} of {bytes} bytes {direction:?} were swallowed within {limit:?}");
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stop();
        // Wakes the acceptor. A failure means that others are waiting to be accepted, which wakes it as well.
        let _ = connect(self.port);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

fn accept<'scope>(scope: &'scope Scope<'scope, '_>, listener: &TcpListener, shared: &Arc<Shared>) {
    while !shared.is_stopping() {
        let Ok((client, _)) = listener.accept() else {
            thread::sleep(PAUSE);
            continue;
        };
        if let Some(link) = open(client, shared) {
            scope.spawn(|| link.run());
        }
    }
}

/// Connects a client through, unless it is to be refused. A refused client's socket is dropped here, which closes it.
fn open(client: TcpStream, shared: &Arc<Shared>) -> Option<Link> {
    let link = || {
        let target = shared.target()?;
        Link::open(Sockets::new(client, connect(target).ok()?).ok()?, shared)
    };
    let link = link();
    if link.is_none() {
        shared.change(|state| state.refused += 1);
    }
    link
}

fn connect(port: u16) -> std::io::Result<TcpStream> {
    TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), CONNECT_LIMIT)
}

//! One connection on its way through the proxy.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

use super::Direction;
use super::state::{Piece, Shared};

const CHUNK: usize = 64 * 1024;
/// How soon a cut is seen by a thread that writes to somebody who does not read.
const WRITE_LIMIT: Duration = Duration::from_millis(50);

/// Both ends. They close when the last owner is gone, and then with a reset: whoever has closed properly before does not notice.
#[derive(Debug)]
pub(super) struct Sockets {
    client: TcpStream,
    server: TcpStream,
}

/// A connection that is carried.
#[derive(Debug)]
pub(super) struct Link {
    id: u64,
    sockets: Arc<Sockets>,
    shared: Arc<Shared>,
}

impl Sockets {
    pub(super) fn new(client: TcpStream, server: TcpStream) -> io::Result<Self> {
        for socket in [&client, &server] {
            set_socket_linger(socket, Some(Duration::ZERO))?;
            socket.set_write_timeout(Some(WRITE_LIMIT))?;
            socket.set_nodelay(true)?;
        }
        Ok(Self { client, server })
    }

    /// Wakes the threads that read. Nothing is sent by this, so that the reset is the first that the peers notice.
    pub(super) fn stop_reading(&self) {
        for socket in [&self.client, &self.server] {
            let _ = socket.shutdown(Shutdown::Read);
        }
    }

    /// From where, and where to.
    fn ends(&self, direction: Direction) -> (&TcpStream, &TcpStream) {
        match direction {
            Direction::ToServer => (&self.client, &self.server),
            Direction::ToClient => (&self.server, &self.client),
        }
    }
}

impl Link {
    /// `None` where it is too late for new connections.
    pub(super) fn open(sockets: Sockets, shared: &Arc<Shared>) -> Option<Self> {
        let sockets = Arc::new(sockets);
        let id = shared.open(&sockets)?;
        Some(Self { id, sockets, shared: Arc::clone(shared) })
    }

    /// Carries bytes until both ends have closed, or until the connection is cut.
    pub(super) fn run(self) {
        thread::scope(|scope| {
            scope.spawn(|| self.read(Direction::ToServer));
            scope.spawn(|| self.write(Direction::ToServer));
            scope.spawn(|| self.read(Direction::ToClient));
            self.write(Direction::ToClient);
        });
        // First the sockets: a connection that is not counted any more is closed.
        drop(self.sockets);
        self.shared.close(self.id);
    }

    /// Reading never waits for writing, so that a sender does not notice what becomes of its bytes.
    fn read(&self, direction: Direction) {
        let mut source = self.sockets.ends(direction).0;
        let mut buffer = vec![0; CHUNK];
        loop {
            let piece = match source.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => Piece::End,
                Ok(count) => Piece::Bytes(buffer[..count].to_vec()),
            };
            let is_end = matches!(piece, Piece::End);
            self.shared.arrive(self.id, direction, piece);
            if is_end {
                return;
            }
        }
    }

    fn write(&self, direction: Direction) {
        let destination = self.sockets.ends(direction).1;
        let mut is_gone = false;
        while let Some(piece) = self.shared.next(self.id, direction) {
            match piece {
                // Somebody who went away changes nothing for the sender: a network would not tell at once, either.
                Piece::Bytes(bytes) => is_gone = is_gone || self.send(destination, &bytes).is_err(),
                Piece::End => {
                    let _ = destination.shutdown(Shutdown::Write);
                    return;
                }
            }
        }
    }

    fn send(&self, mut destination: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match destination.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => bytes = &bytes[count..],
                Err(error) if is_passing(&error) && !self.shared.is_cut(self.id) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

//! Ports for private servers.

use std::net::{Ipv4Addr, TcpListener};

use crate::Error;

/// The bus of a cluster node listens this much higher than the node itself.
const HIGHEST_PORT: u16 = u16::MAX - 10_000;

/// A port that nobody uses now. Somebody may take it before the server does; the caller tries again then.
pub(crate) fn free_port() -> Result<u16, Error> {
    // Ports that are too high are held until one fits, so that the system does not offer them again.
    let mut too_high = Vec::new();
    loop {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        if port <= HIGHEST_PORT {
            return Ok(port);
        }
        too_high.push(listener);
    }
}

//! Private servers for the tests of this workspace (Redis, Prometheus), and instruments to look into them and to trouble the way to them.
//!
//! A test that needs Redis starts its own: on a port the system hands out, in its own directory, on loopback only. Nothing is shared, so tests run in
//! parallel, may kill or freeze their server, and leave neither a process nor a directory behind, whether they pass, panic or are killed.
//!
//! ```
//! use test_support::{Monitor, RedisServer, Reply};
//!
//! # fn main() -> Result<(), test_support::Error> {
//! let server = RedisServer::start()?;
//! let monitor = Monitor::start(&server)?;
//! assert_eq!(server.command(&["SET", "greeting", "hello"])?, Reply::Simple("OK".into()));
//! assert_eq!(monitor.take()?.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! Everything here blocks its thread: the calls are short, and a test on a single-threaded runtime that waits for a task of its own should yield to
//! that runtime instead of calling [`expect_within`].

mod error;
pub mod http;
mod lifeline;
mod monitor;
mod port;
mod program;
pub mod prometheus;
mod proxy;
pub mod redis_server;
mod resp;
mod wait;

pub use error::Error;
pub use monitor::{Command, Monitor};
pub use program::find_program;
pub use prometheus::Prometheus;
pub use proxy::{Connections, Direction, Proxy};
pub use redis_server::{Builder, RedisServer};
pub use resp::{Client, Reply};
pub use wait::{expect_within, wait_until};

//! What can keep the demo from showing anything, and what a scenario did not expect.

use std::io;
use std::time::Duration;

use crate::wire::Report;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("a private Redis: {0}")]
    Server(#[from] test_support::Error),
    #[error("the Redis at REDIS_URL: {0}")]
    Redis(#[from] redis::RedisError),
    #[error("not a line of this demo: {0}")]
    Line(#[from] serde_json::Error),
    #[error("a worker cannot start: {0}")]
    Setup(Box<dyn std::error::Error + Send + Sync>),
    #[error("worker {pid} ended of its own accord")]
    WorkerEnded { pid: u32 },
    #[error("worker {pid} said nothing for {limit:?}")]
    WorkerSilent { pid: u32, limit: Duration },
    #[error("worker {pid} said {said:?}, which nobody expected now")]
    Unexpected { pid: u32, said: Report },
    #[error("order {order} got no answer in {tries} deliveries")]
    Undelivered { order: String, tries: u32 },
    #[error("expected: {expected}; got: {got}")]
    Otherwise { expected: String, got: String },
    #[error("a thread of the storm panicked")]
    Panicked,
}

impl Error {
    pub(crate) fn setup(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Setup(cause.into())
    }
}

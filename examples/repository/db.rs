//! A stand-in for a driver's crate, such as `sqlx`: its error can have no `From<idem::Error>`, since neither type is yours.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

#[derive(Debug)]
pub(crate) enum Error {
    PoolTimedOut,
    /// The name of the constraint.
    Unique(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PoolTimedOut => f.write_str("no connection in time"),
            Self::Unique(constraint) => write!(f, "{constraint} is violated"),
        }
    }
}

impl std::error::Error for Error {}

#[derive(Debug, Default)]
pub(crate) struct Pool {
    emails: Mutex<Vec<String>>,
    exhausted: AtomicBool,
}

impl Pool {
    /// The next query finds no connection.
    pub(crate) fn exhaust_once(&self) {
        self.exhausted.store(true, SeqCst);
    }

    pub(crate) async fn insert(&self, email: &str) -> Result<u64, Error> {
        tokio::task::yield_now().await;
        if self.exhausted.swap(false, SeqCst) {
            return Err(Error::PoolTimedOut);
        }
        let mut emails = self.emails.lock().unwrap_or_else(PoisonError::into_inner);
        if emails.iter().any(|taken| taken == email) {
            return Err(Error::Unique("users_email_key"));
        }
        emails.push(email.to_owned());
        Ok(emails.len() as u64)
    }

    pub(crate) fn rows(&self) -> usize {
        self.emails.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

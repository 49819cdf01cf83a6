//! The ledger: where charges have their effect. A file outside Redis, so that it can contradict Redis.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// One charge that happened. What is known of its attempt goes into the same line as the effect, so that no crash can part
/// the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) order: String,
    pub(crate) amount_cents: u64,
    pub(crate) attempt: u32,
    /// Whether an earlier attempt died before it, which may have charged already.
    pub(crate) takeover: bool,
    /// The process that charged.
    pub(crate) worker: u32,
}

/// The ledger, open for charges.
#[derive(Debug, Clone)]
pub(crate) struct Ledger(Option<Arc<File>>);

impl Ledger {
    /// Opens the ledger at `path`, an empty one if there is none.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(Some(Arc::new(OpenOptions::new().create(true).append(true).open(path)?))))
    }

    /// For charges that nobody will ask about: a load that goes on for days must not fill a disk.
    pub(crate) fn forgetful() -> Self {
        Self(None)
    }

    /// Charges: one write, so that lines of several processes do not mix, and on disk when this returns.
    pub(crate) async fn append(&self, entry: &Entry) -> io::Result<()> {
        let Some(file) = self.0.clone() else { return Ok(()) };
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        // The disk may be slow; the runtime's thread has leases to renew.
        let written = tokio::task::spawn_blocking(move || {
            (&*file).write_all(&line)?;
            file.sync_all()
        });
        written.await?
    }
}

/// All charges, in the order in which they happened. A line that cannot be read is an error, never left out.
pub(crate) fn read(path: &Path) -> io::Result<Vec<Entry>> {
    let text = std::fs::read_to_string(path)?;
    text.lines().map(|line| serde_json::from_str(line).map_err(io::Error::from)).collect()
}

/// The charges of one order.
pub(crate) fn of_order<'a>(entries: &'a [Entry], order: &str) -> Vec<&'a Entry> {
    entries.iter().filter(|entry| entry.order == order).collect()
}

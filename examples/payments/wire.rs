//! What broker and worker tell each other: JSON lines over the worker's standard input and output.

use std::fmt;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::charge::{Order, Receipt};
use crate::gateway::Faults;

/// From the broker to a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// Charge this order.
    Deliver(Delivery),
    /// Go on, where a fault made a charge stand still.
    Resume,
}

/// One delivery of an order.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) order: Order,
    pub(crate) faults: Faults,
}

/// From a worker to the broker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// Ready for deliveries.
    Ready,
    /// The body runs; there is no effect yet.
    Charging,
    /// The effect is in the ledger, on disk.
    Charged,
    /// How the delivery ended.
    Answer(Answer),
    /// The last word: all that was counted, in Prometheus' text form. Who is killed has no last word.
    Metrics(String),
}

/// How one delivery ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Executed {
        receipt: Receipt,
        attempt: u32,
    },
    Replayed {
        receipt: Receipt,
        attempt: u32,
    },
    /// Another call has this order in hand (HTTP 409).
    Conflict {
        retry_after_ms: u64,
    },
    /// The order was charged under this id with other contents (HTTP 422).
    Mismatch,
    Declined,
    /// Anything else. Worth another delivery if `retryable`.
    Failed {
        error: String,
        retryable: bool,
    },
}

/// Writes a line to the broker, at once and whole.
pub(crate) fn tell(report: &Report) {
    let Ok(line) = serde_json::to_string(report) else { return };
    // Without a broker there is nobody to tell; the end of standard input then ends this process.
    let _ = writeln!(io::stdout().lock(), "{line}");
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Executed { attempt, .. } => write!(f, "charged (attempt {attempt})"),
            Self::Replayed { receipt, .. } => write!(f, "replayed the receipt of worker {}", receipt.charged_by),
            Self::Conflict { retry_after_ms } => write!(f, "conflict (409), to be retried in {retry_after_ms} ms"),
            Self::Mismatch => f.write_str("mismatch (422): this order was placed with other contents"),
            Self::Declined => f.write_str("declined: no effect"),
            Self::Failed { error, .. } => write!(f, "failed: {error}"),
        }
    }
}

//! The payment gateway as one delivery finds it: willing or not, quick or slow, and interrupted where a scenario wants it.
//!
//! A real one would be an HTTP client. That the broker can stop it at two points is what makes the crashes of this demo
//! happen at the right moment instead of perhaps.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::ledger::{Entry, Ledger};
use crate::wire::Report;

/// What befalls the gateway during one delivery. No part of the order: a repeat of the same intent meets another world.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Faults {
    /// Where the charge stands still until it is told to go on, if it ever is.
    pub(crate) pause: Option<Point>,
    /// Whether the card is declined.
    pub(crate) decline: bool,
    /// How long the gateway takes before, and again after, the effect.
    pub(crate) latency_ms: u64,
}

/// A point around the effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Point {
    BeforeEffect,
    /// The effect is on disk; nothing of that is recorded in Redis yet.
    AfterEffect,
}

/// Why the gateway did not charge.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GatewayError {
    #[error("the card was declined")]
    Declined,
    #[error("the ledger cannot be written")]
    Ledger(#[from] io::Error),
}

/// The gateway during one delivery.
#[derive(Debug)]
pub(crate) struct Gateway {
    pub(crate) ledger: Ledger,
    pub(crate) faults: Faults,
    pub(crate) resume: Arc<Notify>,
    /// Whom it tells how far a charge has come.
    pub(crate) tell: fn(&Report),
}

impl Gateway {
    /// Charges: writes the entry into the ledger.
    pub(crate) async fn charge(&self, entry: Entry) -> Result<(), GatewayError> {
        (self.tell)(&Report::Charging);
        self.reach(Point::BeforeEffect).await;
        if self.faults.decline {
            return Err(GatewayError::Declined);
        }
        self.ledger.append(&entry).await?;
        (self.tell)(&Report::Charged);
        self.reach(Point::AfterEffect).await;
        Ok(())
    }

    async fn reach(&self, point: Point) {
        tokio::time::sleep(Duration::from_millis(self.faults.latency_ms)).await;
        if self.faults.pause == Some(point) {
            self.resume.notified().await;
        }
    }
}

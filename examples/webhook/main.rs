//! A webhook whose sender repeats an event for days until it gets a 2xx. The event's id is the key; the rest differs from
//! one delivery to the next, so nothing of it is compared (`skip_all`), and results are kept for as long as it repeats.
//!
//! ```text
//! cargo run --example webhook                                     # in memory
//! REDIS_URL=redis://127.0.0.1:6379 cargo run --example webhook    # twice: the second run finds the first one's results
//! ```
#![allow(clippy::print_stdout, reason = "an example shows what happened")]

use std::error::Error;

use idem::{Engine, RedisStore, idempotent};

/// As it was delivered, once its signature was checked: without that anybody could use up an event's id.
struct Event {
    id: &'static str,
    invoice: &'static str,
    /// How often this event was sent before.
    repeats: u32,
}

/// The effect: invoices that are marked as paid, with the number of the delivery that did it.
#[derive(Debug, Default)]
struct Ledger {
    paid: Vec<(&'static str, u32)>,
    is_read_only: bool,
}

#[derive(Debug, thiserror::Error)]
enum WebhookError {
    #[error("the ledger is read-only")]
    ReadOnly,
    #[error(transparent)]
    Idem(#[from] idem::Error),
}

/// `skip_all` has a price: an event that came with other content under a known id would not be noticed.
#[idempotent(name = "billing.invoice_paid", key = event.id, skip_all, retention = "7d")]
async fn invoice_paid(ledger: &mut Ledger, event: &Event) -> Result<(), WebhookError> {
    if ledger.is_read_only {
        return Err(WebhookError::ReadOnly); // not kept: the next delivery runs
    }
    ledger.paid.push((event.invoice, event.repeats));
    Ok(())
}

/// The status that the sender gets. It repeats whatever is no 2xx.
async fn webhook(ledger: &mut Ledger, event: &Event) -> u16 {
    match invoice_paid(ledger, event).await {
        Ok(()) => 204,
        Err(WebhookError::ReadOnly) => 503,
        Err(WebhookError::Idem(error)) => error.status(),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    idem::install(match std::env::var("REDIS_URL") {
        Ok(url) => Engine::new(RedisStore::from_url(&url)?),
        Err(_) => Engine::in_memory(),
    })?;
    let mut ledger = Ledger::default();
    let event = |id, invoice, repeats| Event { id, invoice, repeats };

    println!("a first delivery: {}", webhook(&mut ledger, &event("evt_1", "inv-1", 0)).await);
    println!("its repeat: {}", webhook(&mut ledger, &event("evt_1", "inv-1", 1)).await);

    ledger.is_read_only = true;
    println!("while nothing can be written: {}", webhook(&mut ledger, &event("evt_2", "inv-2", 0)).await);
    ledger.is_read_only = false;
    println!("its repeat: {}", webhook(&mut ledger, &event("evt_2", "inv-2", 1)).await);

    println!("without an id: {}", webhook(&mut ledger, &event("", "inv-3", 0)).await);
    println!("paid: {:?}", ledger.paid);
    Ok(())
}

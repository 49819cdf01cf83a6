//! A consumer of a queue that delivers at least once. The message says by itself what names it
//! (`#[derive(IdempotencyKey)]`), and the kind of the error says what to tell the broker: ack, nack or dead letter.
//!
//! ```text
//! cargo run --example queue_consumer                                     # in memory
//! REDIS_URL=redis://127.0.0.1:6379 cargo run --example queue_consumer    # twice: the second run finds the first one's results
//! ```
#![allow(clippy::print_stdout, reason = "an example shows what happened")]

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use idem::{Engine, ErrorKind, IdempotencyKey, RedisStore, idempotent};
use serde::Deserialize;

/// One payout for an employee and a month.
#[derive(Debug, Deserialize, IdempotencyKey)]
struct Payout {
    #[idem(key)]
    employee: u64,
    #[idem(key)]
    month: String,
    /// Compared: another amount for this employee and month is refused.
    cents: u64,
    /// Another one with each delivery, so no part of the intent.
    #[idem(skip)]
    delivery: u32,
}

#[derive(Debug, Default)]
struct Bank {
    is_closed: AtomicBool,
    paid_cents: AtomicU64,
}

#[derive(Debug, thiserror::Error)]
enum PayoutError {
    #[error("the bank is closed")]
    BankIsClosed,
    #[error(transparent)]
    Idem(#[from] idem::Error),
}

#[idempotent(name = "payouts.pay", key = payout, skip(bank))]
async fn pay(bank: &Bank, payout: &Payout) -> Result<(), PayoutError> {
    if bank.is_closed.load(SeqCst) {
        return Err(PayoutError::BankIsClosed); // not kept: the next delivery runs
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    bank.paid_cents.fetch_add(payout.cents, SeqCst);
    println!("  {} cents are paid, by delivery {}", payout.cents, payout.delivery);
    Ok(())
}

/// What the broker is told of a delivery.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    Ack,
    /// Deliver it again, after this time.
    Nack(Duration),
    /// Another delivery would end the same way: a person has to look.
    DeadLetter(String),
}

fn answer(result: Result<(), PayoutError>) -> Answer {
    let error = match result {
        Ok(()) => return Answer::Ack,
        Err(PayoutError::BankIsClosed) => return Answer::Nack(Duration::from_secs(60)),
        Err(PayoutError::Idem(error)) => error,
    };
    match error.kind() {
        // A conflict says how long a crash of the other call would keep this one out. One that lives ends sooner.
        ErrorKind::InFlight => Answer::Nack(error.retry_after().unwrap_or_default().min(Duration::from_millis(500))),
        // No store, a lease that was lost, a shutdown.
        _ if error.is_retryable() => Answer::Nack(error.retry_after().unwrap_or(Duration::from_secs(1))),
        // A mismatch, a key that is none, an unknown outcome, a record that cannot be read.
        kind if error.may_have_run() => Answer::DeadLetter(format!("{kind:?}, and it may have been paid")),
        kind => Answer::DeadLetter(format!("{kind:?}, nothing was done")),
    }
}

async fn consume(bank: &Bank, delivered: &str) -> Answer {
    match serde_json::from_str(delivered) {
        Ok(payout) => answer(pay(bank, &payout).await),
        Err(error) => Answer::DeadLetter(error.to_string()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    idem::install(match std::env::var("REDIS_URL") {
        Ok(url) => Engine::new(RedisStore::from_url(&url)?),
        Err(_) => Engine::in_memory(),
    })?;
    let bank = Bank::default();
    let deliver = async |what: &str, message: &str| println!("{what}: {:?}", consume(&bank, message).await);

    deliver("a message", r#"{"employee":7,"month":"2026-11","cents":5000,"delivery":1}"#).await;
    deliver("delivered again", r#"{"employee":7,"month":"2026-11","cents":5000,"delivery":2}"#).await;
    deliver("with another amount", r#"{"employee":7,"month":"2026-11","cents":9900,"delivery":1}"#).await;
    deliver("of another month", r#"{"employee":7,"month":"2026-12","cents":5000,"delivery":1}"#).await;
    deliver("without a month", r#"{"employee":7,"cents":5000,"delivery":1}"#).await;

    bank.is_closed.store(true, SeqCst);
    let message = r#"{"employee":8,"month":"2026-11","cents":6000,"delivery":1}"#;
    deliver("while the bank is closed", message).await;
    bank.is_closed.store(false, SeqCst);
    deliver("delivered again when it is open", message).await;

    let message = r#"{"employee":9,"month":"2026-11","cents":7000,"delivery":1}"#;
    let (one, other) = tokio::join!(consume(&bank, message), consume(&bank, message));
    println!("to two consumers at once: {:?} and {:?}", (&one).min(&other), (&one).max(&other));
    println!("paid: {} cents", bank.paid_cents.load(SeqCst));
    Ok(())
}

//! A job that runs once a day, however many schedulers start it: its date is the key. It survives the scheduler that gives
//! up waiting (`detach`); and where its process dies it asks what became of it before it runs again (`recover`).
//!
//! ```text
//! cargo run --example nightly_job --features chrono                                     # in memory
//! REDIS_URL=redis://127.0.0.1:6379 cargo run --example nightly_job --features chrono    # twice: all is known already
//! ```
#![allow(clippy::print_stdout, reason = "an example shows what happened")]

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{Days, NaiveDate};
use idem::{Engine, ErrorKind, RedisStore, idempotent};
use tokio::time::sleep;

/// Where settlement files go; outside of idem, and it can be asked.
#[derive(Debug, Default)]
struct Bank {
    files: Mutex<BTreeMap<NaiveDate, u64>>,
}

impl Bank {
    /// The file is there at once; the confirmation takes its time.
    async fn upload(&self, day: NaiveDate) -> u64 {
        println!("  the bank gets a file of {day}");
        let number = {
            let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            let number = files.len() as u64 + 1;
            files.insert(day, number);
            number
        };
        sleep(Duration::from_millis(500)).await;
        number
    }

    /// Ends once the file is there, before it is confirmed.
    async fn received(&self, day: NaiveDate) {
        while !self.files.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&day) {
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn find(&self, day: NaiveDate) -> anyhow::Result<Option<u64>> {
        println!("  the bank is asked for {day}");
        sleep(Duration::from_millis(20)).await;
        Ok(self.files.lock().unwrap_or_else(PoisonError::into_inner).get(&day).copied())
    }
}

// The lease is how long a crash keeps others out: short here, so that you need not wait. It is renewed while the body
// runs, so it need not be as long as the job.
#[idempotent(
    name = "settlement.upload",
    key = day,
    skip(bank),
    lease = "2s",
    retention = "30d",
    detach,
    recover = bank.find(day)
)]
async fn settle(bank: Arc<Bank>, day: NaiveDate) -> anyhow::Result<u64> {
    Ok(bank.upload(day).await)
}

/// What a scheduler does: start it, and where it is in flight elsewhere, come back.
async fn run(bank: &Arc<Bank>, day: NaiveDate) -> anyhow::Result<u64> {
    loop {
        let error = match settle(Arc::clone(bank), day).await {
            Ok(number) => return Ok(number),
            Err(error) => error,
        };
        match idem::Error::find(error.as_ref()) {
            Some(found) if found.kind() == ErrorKind::InFlight => {
                sleep(found.retry_after().unwrap_or_default().min(Duration::from_millis(100))).await;
            }
            _ => return Err(error),
        }
    }
}

/// A scheduler that goes away during the upload.
async fn leave(bank: &Arc<Bank>, day: NaiveDate) -> anyhow::Result<&'static str> {
    tokio::select! {
        biased;
        () = bank.received(day) => Ok("the file was on its way"),
        settled = settle(Arc::clone(bank), day) => settled.map(|_| "it had ended before"),
    }
}

/// A process that dies during the upload: its runtime ends, and the task of the job with it.
fn crash(bank: &Arc<Bank>, day: NaiveDate) -> anyhow::Result<&'static str> {
    let process = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    process.block_on(leave(bank, day))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    idem::install(match std::env::var("REDIS_URL") {
        Ok(url) => Engine::new(RedisStore::from_url(&url)?),
        Err(_) => Engine::in_memory(),
    })?;
    let bank = Arc::new(Bank::default());
    let first = NaiveDate::from_ymd_opt(2026, 11, 1).ok_or("no such day")?;
    let (second, third) = (first + Days::new(1), first + Days::new(2));

    let (one, other) = tokio::join!(run(&bank, first), run(&bank, first));
    println!("two schedulers at once: file {} and file {}", one?, other?);

    println!("a scheduler gives up waiting: {}", leave(&bank, second).await?);
    println!("it is started again: file {}", run(&bank, second).await?);

    let doomed = Arc::clone(&bank);
    println!("a process dies: {}", tokio::task::spawn_blocking(move || crash(&doomed, third)).await??);
    println!("it is started again: file {}", run(&bank, third).await?);
    Ok(())
}

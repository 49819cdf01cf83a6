//! What a kept result costs in the server's memory, beside a bare `SET` of the same payload.

use std::future::Future;
use std::pin::Pin;
use std::thread;
use std::time::Duration;

use idem::idempotent;
use test_support::RedisServer;
use tokio::runtime::Runtime;

use crate::by_hand::{ByHand, TTL_MS};
use crate::effect;
use crate::load::{Stop, drive};
use crate::report::BytesPerKey;
use crate::side::Failure;

pub(crate) const KEYS: usize = 100_000;
pub(crate) const FEW_KEYS: usize = 10_000;

/// Between two looks at a server that still moves its tables.
const PAUSE: Duration = Duration::from_millis(300);
const MOST_LOOKS: usize = 40;
/// The looking itself may cost so much.
const NOISE: usize = 2048;

/// Its results are 36 bytes as JSON, with their quotes.
#[idempotent(name = "bench.result", key = order)]
async fn result(order: &str) -> Result<String, idem::Error> {
    Ok(text(order, 34))
}

/// Its results are 36 characters, as a UUID has, so 38 bytes as JSON.
#[idempotent(name = "bench.uuids_", key = order)]
async fn uuid(order: &str) -> Result<String, idem::Error> {
    Ok(text(order, 36))
}

fn text(order: &str, length: usize) -> String {
    order[order.len() - length..].to_owned()
}

pub(crate) fn compare(
    runtime: &Runtime,
    server: &RedisServer,
    by_hand: &ByHand,
    keys: usize,
) -> Result<BytesPerKey, Failure> {
    let filled = Filled { runtime, server, keys };
    // As long as idem's whole key.
    let whole_key = |order: &str| format!("bare:{{bench.result::{order}}}");
    Ok(BytesPerKey {
        bare_set: filled.by(bare_set(by_hand, whole_key, 34))?,
        idem: filled.by(|order| async move { Ok(result(&order).await.map(drop)?) })?,
        bare_set_users_key: filled.by(bare_set(by_hand, str::to_owned, 34))?,
        bare_set_uuid: filled.by(bare_set(by_hand, whole_key, 36))?,
        idem_uuid: filled.by(|order| async move { Ok(uuid(&order).await.map(drop)?) })?,
    })
}

/// Sets a text of `length` as JSON.
fn bare_set(
    by_hand: &ByHand,
    key: fn(&str) -> String,
    length: usize,
) -> impl Fn(String) -> Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>> + Clone + Send + 'static {
    let by_hand = by_hand.clone();
    move |order| {
        let mut lane = by_hand.lane();
        Box::pin(async move {
            let json = serde_json::to_string(&text(&order, length))?;
            let mut set = redis::cmd("SET");
            set.arg(key(&order)).arg(json).arg("PX").arg(TTL_MS);
            Ok(set.query_async(&mut lane).await?)
        })
    }
}

/// A server that is filled again and again.
struct Filled<'a> {
    runtime: &'a Runtime,
    server: &'a RedisServer,
    keys: usize,
}

impl Filled<'_> {
    /// The bytes that each key takes which `write` writes.
    fn by<C, F>(&self, write: C) -> Result<f64, Failure>
    where
        C: Fn(String) -> F + Clone + Send + 'static,
        F: Future<Output = Result<(), Failure>> + Send,
    {
        self.server.command(&["FLUSHALL"])?;
        let before = self.used_memory()?;
        let write = move |caller, number| write(effect::key(0, caller, number));
        self.runtime.block_on(drive(Stop::Calls(self.keys), write))?;
        let there = self.server.command(&["DBSIZE"])?.int();
        if there.and_then(|there| usize::try_from(there).ok()) != Some(self.keys) {
            return Err(format!("{there:?} keys instead of {}", self.keys).into());
        }
        let after = self.used_memory()?;
        self.server.command(&["FLUSHALL"])?;
        Ok(each(after.saturating_sub(before), self.keys))
    }

    /// Once it stands still: tables are moved bit by bit, and connections give their buffers back after a while.
    fn used_memory(&self) -> Result<usize, Failure> {
        let mut last = 0;
        for _ in 0..MOST_LOOKS {
            let info = self.server.command(&["INFO", "memory"])?.text().unwrap_or_default();
            let used = info.lines().find_map(|line| line.strip_prefix("used_memory:")).ok_or("no used_memory")?;
            let used: usize = used.parse()?;
            if used.abs_diff(last) <= NOISE {
                return Ok(used);
            }
            last = used;
            thread::sleep(PAUSE);
        }
        Err("the server's memory does not come to rest".into())
    }
}

#[expect(clippy::cast_precision_loss, reason = "no machine has 2^52 bytes")]
fn each(bytes: usize, keys: usize) -> f64 {
    bytes as f64 / keys as f64
}

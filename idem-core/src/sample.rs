//! The sampler: counts what is in the store, now and then, so that what nobody meets is seen as well.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::time::Duration;

use metrics::gauge;
use tokio::task::AbortHandle;

use crate::clock::Instant;
use crate::engine::{Engine, WeakEngine};
use crate::metrics::{OLDEST_UNSETTLED_SECONDS, RECORDS};
use crate::operation::Operation;
use crate::store::{Cursor, Found, InspectReply, Page, StoreError, Survey};

impl Engine {
    /// Counts the store's records each `interval` (at least a second), by operation and standing, and reports them as the
    /// gauges [`RECORDS`] and [`OLDEST_UNSETTLED_SECONDS`], until the sampler is dropped or the engine is gone.
    ///
    /// It reads all of the store's keys, a bounded part at a time, and rests between parts for as long as they take: enough
    /// in one process of all that share the store. What changes meanwhile may be missed or counted twice.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, where its task could not run.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// # let engine = idem_core::Engine::in_memory();
    /// let _sampler = engine.sample(std::time::Duration::from_secs(60));
    /// # }
    /// ```
    pub fn sample(&self, interval: Duration) -> Sampler {
        Sampler(tokio::spawn(sample(self.downgrade(), interval.max(SHORTEST_INTERVAL))).abort_handle())
    }
}

/// Counts what is in the store while it is held; made by [`Engine::sample`].
#[derive(Debug)]
#[must_use = "dropped, it samples no more"]
pub struct Sampler(AbortHandle);

impl Drop for Sampler {
    fn drop(&mut self) {
        self.0.abort();
    }
}

const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
const SHORTEST_REST: Duration = Duration::from_millis(10);

async fn sample(engine: WeakEngine, interval: Duration) {
    let mut counted = HashMap::new();
    let mut from = None;
    loop {
        let asked = Instant::now();
        let Some(answer) = page(&engine, from).await else { return };
        from = match answer {
            Ok(page) => {
                for found in &page.found {
                    add(&mut counted, found);
                }
                if page.next.is_none() {
                    report(&mut counted);
                }
                page.next
            }
            // What was counted so far is a part, and says nothing of the whole.
            Err(error) => {
                tracing::debug!(cause = &error as &dyn StdError, "the store could not be sampled");
                for counted in counted.values_mut() {
                    *counted = Counted::default();
                }
                None
            }
        };
        let rest = if from.is_some() { asked.elapsed().max(SHORTEST_REST) } else { interval };
        tokio::time::sleep(rest).await;
    }
}

/// A part of the store; `None` once the engine is gone, which its sampler does not keep alive.
async fn page(engine: &WeakEngine, from: Option<Cursor>) -> Option<Result<Page, StoreError>> {
    let engine = engine.upgrade()?;
    let (times, survey) = (engine.store_times(), Survey { name: None, from });
    Some(engine.bounded(&times, "survey", engine.store_bound(), engine.store().survey(&survey)).await)
}

/// What was found of one operation.
#[derive(Default)]
struct Counted {
    by_standing: [u32; STANDINGS.len()],
    oldest_unsettled: Duration,
}

/// All that a record can be found as.
const STANDINGS: [&str; 7] = ["in_flight", "abandoned", "released", "uncertain", "completed", "failed", "corrupt"];

fn add(counted: &mut HashMap<String, Counted>, found: &Found) {
    let (standing, unsettled_for) = match found.reply {
        InspectReply::Known(known) => (known.standing.as_str(), known.is_unsettled().then(|| known.age())),
        InspectReply::Corrupt(_) => ("corrupt", None),
        InspectReply::Absent => return,
    };
    let Some(operation) = Operation::from_text(&found.text) else { return };
    let counted = counted.entry(operation.name().to_owned()).or_default();
    if let Some(at) = STANDINGS.iter().position(|known| *known == standing) {
        counted.by_standing[at] += 1;
    }
    counted.oldest_unsettled = counted.oldest_unsettled.max(unsettled_for.unwrap_or_default());
}

/// Sets the gauges, and begins anew. An operation that was seen once is reported for good: as none, once it is gone.
fn report(counted: &mut HashMap<String, Counted>) {
    for (operation, counted) in counted {
        let Counted { by_standing, oldest_unsettled } = std::mem::take(counted);
        for (standing, count) in STANDINGS.into_iter().zip(by_standing) {
            gauge!(RECORDS, "operation" => operation.clone(), "standing" => standing).set(count);
        }
        gauge!(OLDEST_UNSETTLED_SECONDS, "operation" => operation.clone()).set(oldest_unsettled);
    }
}

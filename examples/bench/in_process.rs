//! What idem costs in the process itself: on a store in memory, one call after the other, on one thread.

use std::time::{Duration, Instant};

use idem::Engine;

use crate::effect;
use crate::report::InProcess;
use crate::side::Failure;
use crate::with_idem::charge;

const ROUNDS: usize = 9;
const CALLS: u32 = 50_000;
const FEW_CALLS: u32 = 5_000;

pub(crate) fn measure(quick: bool) -> Result<InProcess, Failure> {
    let calls = if quick { FEW_CALLS } else { CALLS };
    let orders: Vec<String> = (0..calls as usize).map(|number| effect::key(0, 0, number)).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut first, mut replay) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        // A new store each time: the first calls find it empty.
        runtime.block_on(idem::with_engine(Engine::in_memory(), async {
            first.push(nanoseconds_each(call_all(&orders).await?, calls));
            replay.push(nanoseconds_each(call_all(&orders).await?, calls));
            Ok::<_, idem::Error>(())
        }))?;
    }
    Ok(InProcess { first: least(&first).round(), replay: least(&replay).round() })
}

/// Here is no other side that a busy machine would hurt as much, so the least disturbed round counts.
fn least(rounds: &[f64]) -> f64 {
    rounds.iter().copied().fold(f64::INFINITY, f64::min)
}

async fn call_all(orders: &[String]) -> Result<Duration, idem::Error> {
    let start = Instant::now();
    for order in orders {
        charge(order, 4200).await?;
    }
    Ok(start.elapsed())
}

fn nanoseconds_each(took: Duration, calls: u32) -> f64 {
    took.as_secs_f64() * 1e9 / f64::from(calls)
}

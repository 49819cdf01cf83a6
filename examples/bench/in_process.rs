//! What idem costs in the process itself: on a store in memory, one call after the other, on one thread. By itself, measured
//! by a Prometheus exporter, and traced as well.

use std::time::{Duration, Instant};

use idem::Engine;
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::runtime::Runtime;

use crate::effect;
use crate::report::{InProcess, PerCall};
use crate::side::Failure;
use crate::with_idem::charge;

const ROUNDS: usize = 9;
/// Timed at a time: so few that a busy machine leaves some of them undisturbed.
const TOGETHER: usize = 500;
const CALLS: u32 = 50_000;
const FEW_CALLS: u32 = 5_000;

pub(crate) fn measure(quick: bool) -> Result<InProcess, Failure> {
    let calls = if quick { FEW_CALLS } else { CALLS };
    let orders: Vec<String> = (0..calls as usize).map(|number| effect::key(0, 0, number)).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut alone, mut measured, mut traced) = (Rounds::default(), Rounds::default(), Rounds::default());
    for _ in 0..ROUNDS {
        alone.add(&runtime, &orders)?;
        let recorder = PrometheusBuilder::new().build_recorder();
        let _recording = metrics::set_default_local_recorder(&recorder);
        measured.add(&runtime, &orders)?;
        let subscriber = tracing_subscriber::fmt().with_writer(std::io::sink).finish();
        tracing::subscriber::with_default(subscriber, || traced.add(&runtime, &orders))?;
    }
    Ok(InProcess { alone: alone.least(), measured: measured.least(), traced: traced.least() })
}

/// Nanoseconds per call, by round.
#[derive(Default)]
struct Rounds {
    first: Vec<f64>,
    replay: Vec<f64>,
}

impl Rounds {
    fn add(&mut self, runtime: &Runtime, orders: &[String]) -> Result<(), idem::Error> {
        // A new store each time: the first calls find it empty.
        runtime.block_on(idem::with_engine(Engine::in_memory(), async {
            self.first.push(call_all(orders).await?);
            self.replay.push(call_all(orders).await?);
            Ok(())
        }))
    }

    fn least(&self) -> PerCall {
        PerCall { first: least(&self.first).round(), replay: least(&self.replay).round() }
    }
}

/// Here is no other side that a busy machine would hurt as much, so the least disturbed time counts.
fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

async fn call_all(orders: &[String]) -> Result<f64, idem::Error> {
    let mut times = Vec::new();
    for some in orders.chunks(TOGETHER) {
        let start = Instant::now();
        for order in some {
            charge(order, 4200).await?;
        }
        times.push(nanoseconds_each(start.elapsed(), some.len()));
    }
    Ok(least(&times))
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52 calls")]
fn nanoseconds_each(took: Duration, calls: usize) -> f64 {
    took.as_secs_f64() * 1e9 / calls as f64
}

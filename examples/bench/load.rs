//! Many callers at once.

use std::future::Future;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::side::Failure;

pub(crate) const CALLERS: usize = 64;

/// When a caller stops.
#[derive(Clone, Copy)]
pub(crate) enum Stop {
    After(Duration),
    /// When all callers together have made so many calls.
    Calls(usize),
}

/// Lets 64 callers, each a task of its own, make one call after the other; gives the calls per second. `call` gets the caller's number and that of the
/// call.
pub(crate) async fn drive<C, F>(stop: Stop, call: C) -> Result<f64, Failure>
where
    C: Fn(usize, usize) -> F + Clone + Send + 'static,
    F: Future<Output = Result<(), Failure>> + Send,
{
    let start = Instant::now();
    let goes_on = move |caller: usize, done: usize| match stop {
        Stop::After(duration) => start.elapsed() < duration,
        Stop::Calls(calls) => done * CALLERS + caller < calls,
    };
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let call = call.clone();
        callers.spawn(async move {
            let mut done = 0;
            while goes_on(caller, done) {
                call(caller, done).await?;
                done += 1;
            }
            Ok::<_, Failure>(done)
        });
    }
    let mut calls = 0;
    while let Some(done) = callers.join_next().await {
        calls += done??;
    }
    Ok(per_second(calls, start.elapsed()))
}

#[expect(clippy::cast_precision_loss, reason = "nobody makes 2^52 calls")]
fn per_second(calls: usize, took: Duration) -> f64 {
    calls as f64 / took.as_secs_f64()
}

//! How many commands a call sends, as the server hears them.

use std::time::Duration;

use test_support::{Monitor, RedisServer, wait_until};
use tokio::runtime::Runtime;

use crate::effect;
use crate::report::CommandsPerCall;
use crate::side::{Failure, Side};
use crate::with_idem::WithIdem;

const LIMIT: Duration = Duration::from_secs(20);

pub(crate) fn count(runtime: &Runtime, server: &RedisServer) -> Result<CommandsPerCall, Failure> {
    let order = |number| effect::key(0, 0, number);
    // Connects both lanes; the scripts are sent once as text, and then known to the server.
    let running = runtime.spawn(async { WithIdem.call(&effect::held_key()).await });
    if !wait_until(LIMIT, || effect::runs() > 0) {
        return Err("the first call does not come to run".into());
    }
    for number in 0..2 {
        runtime.block_on(WithIdem.call(&order(number)))?;
        runtime.block_on(WithIdem.call(&effect::held_key()))?;
    }

    let monitor = Monitor::start(server)?;
    let sent_by = |order: &str| -> Result<usize, Failure> {
        monitor.take()?;
        runtime.block_on(WithIdem.call(order))?;
        Ok(monitor.take()?.len())
    };
    let counts = CommandsPerCall {
        first: sent_by(&order(2))?,
        replay: sent_by(&order(2))?,
        conflict: sent_by(&effect::held_key())?,
    };
    effect::end_held();
    runtime.block_on(running)??;
    Ok(counts)
}

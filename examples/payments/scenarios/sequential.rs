//! Duplicates, one after another.

use super::{LEASE, Play, Scenario};
use crate::error::Error;
use crate::gateway::Faults;

pub(super) const SCENARIO: Scenario = Scenario {
    name: "sequential-duplicates",
    story: "one order is delivered five times, to two workers in turn",
    lease: LEASE,
    restarts_redis: false,
    play,
    effects: &[false],
    guarantee: "One effect: the first call kept its receipt in Redis, and every repeat, on whichever worker, was answered \
                from there without running.",
};

fn play(play: &mut Play<'_>) -> Result<(), Error> {
    let (mut first, mut second) = (play.worker()?, play.worker()?);
    let none = Faults::default();
    let receipt = play.broker.deliver(&mut first, &play.order, none)?.executed_by(&first)?;
    for _ in 0..2 {
        play.broker.deliver(&mut second, &play.order, none)?.replays(&receipt)?;
        play.broker.deliver(&mut first, &play.order, none)?.replays(&receipt)?;
    }
    play.finish(first)?;
    play.finish(second)
}

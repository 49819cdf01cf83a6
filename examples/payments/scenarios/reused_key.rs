//! The same order with another amount.

use super::{LEASE, Play, Scenario};
use crate::charge::Order;
use crate::error::Error;
use crate::gateway::Faults;
use crate::wire::Answer;

pub(super) const SCENARIO: Scenario = Scenario {
    name: "reused-key",
    story: "an order comes a second time with another amount, and a third time as it was",
    lease: LEASE,
    restarts_redis: false,
    play,
    effects: &[false],
    guarantee: "One effect, with the first amount: the record holds a digest of the arguments, so a bug upstream is refused \
                aloud instead of being answered with the receipt of a different charge.",
};

fn play(play: &mut Play<'_>) -> Result<(), Error> {
    let mut worker = play.worker()?;
    let none = Faults::default();
    let other = Order { amount_cents: play.order.amount_cents * 10, ..play.order.clone() };
    let receipt = play.broker.deliver(&mut worker, &play.order, none)?.executed_by(&worker)?;
    play.broker.deliver(&mut worker, &other, none)?.is(&Answer::Mismatch)?;
    play.broker.deliver(&mut worker, &play.order, none)?.replays(&receipt)?;
    play.finish(worker)
}

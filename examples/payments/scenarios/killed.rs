//! A worker that dies inside a charge: before the effect, and after it. From outside the two look the same.

use super::{LEASE, Play, Scenario};
use crate::error::Error;
use crate::gateway::{Faults, Point};

pub(super) const BEFORE_EFFECT: Scenario = Scenario {
    name: "killed-before-effect",
    story: "a worker is killed inside the charge, before the money moves; the order is delivered again",
    lease: LEASE,
    restarts_redis: false,
    play: |play| kill_and_redeliver(play, Point::BeforeEffect),
    effects: &[true],
    guarantee: "Not lost, and one effect, marked: the claim outlives its owner by no more than a lease, then the next \
                delivery takes over. It is told so, because nothing in Redis can tell this crash from that of the next scenario.",
};

pub(super) const AFTER_EFFECT: Scenario = Scenario {
    name: "killed-after-effect",
    story: "a worker is killed after the money moved, before that is recorded; the order is delivered again",
    lease: LEASE,
    restarts_redis: false,
    play: |play| kill_and_redeliver(play, Point::AfterEffect),
    effects: &[false, true],
    guarantee: "Two effects, the second not in silence: Redis cannot record an effect elsewhere in the same instant, so a \
                crash in between leaves an unknown outcome. It was counted, re-run as the default policy says, and the \
                re-run knew: its ledger line carries the mark by which it is found and refunded.",
};

fn kill_and_redeliver(play: &mut Play<'_>, point: Point) -> Result<(), Error> {
    let doomed = play.worker()?;
    play.broker.deliver_and_kill(doomed, &play.order, point)?;
    let mut worker = play.worker()?;
    let receipt =
        play.broker.deliver_until_settled(&mut worker, &play.order, Faults::default())?.executed_by(&worker)?;
    play.broker.deliver(&mut worker, &play.order, Faults::default())?.replays(&receipt)?;
    play.finish(worker)
}

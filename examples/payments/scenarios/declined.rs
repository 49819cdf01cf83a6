//! A charge that fails before it succeeds.

use super::{LEASE, Play, Scenario};
use crate::error::Error;
use crate::gateway::Faults;
use crate::wire::Answer;

pub(super) const SCENARIO: Scenario = Scenario {
    name: "declined-then-charged",
    story: "the card is declined at first; the order is delivered again, and then once more",
    lease: LEASE,
    restarts_redis: false,
    play,
    effects: &[false],
    guarantee: "One effect, none by the declined attempt: an error is passed on and not kept, and its claim is released at \
                once, so the next delivery ran without waiting for a lease to end; only success is replayed.",
};

fn play(play: &mut Play<'_>) -> Result<(), Error> {
    let mut worker = play.worker()?;
    let declining = Faults { decline: true, ..Faults::default() };
    play.broker.deliver(&mut worker, &play.order, declining)?.is(&Answer::Declined)?;
    let receipt = play.broker.deliver(&mut worker, &play.order, Faults::default())?.executed_by(&worker)?;
    play.broker.deliver(&mut worker, &play.order, Faults::default())?.replays(&receipt)?;
    play.finish(worker)
}

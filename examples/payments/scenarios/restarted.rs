//! A Redis that dies between a delivery and its duplicate.

use test_support::RedisServer;

use super::{LEASE, Play, Scenario};
use crate::error::Error;
use crate::gateway::Faults;

pub(super) const SCENARIO: Scenario = Scenario {
    name: "restarted-redis",
    story: "a Redis with appendonly yes, appendfsync always is killed and started again before the duplicates come",
    lease: LEASE,
    restarts_redis: true,
    play,
    effects: &[false],
    guarantee: "One effect: with these two settings the receipt was on Redis' disk before the first delivery was answered, so \
                it survived a kill -9 of the server, and both a worker of before and a new one replayed it. A Redis without \
                persistence forgets, and a duplicate then runs again.",
};

fn play(play: &mut Play<'_>) -> Result<(), Error> {
    let server = RedisServer::builder().option("appendonly", "yes").option("appendfsync", "always").start()?;
    play.setup.redis_url = server.url();
    let mut early = play.worker()?;
    let receipt = play.broker.deliver(&mut early, &play.order, Faults::default())?.executed_by(&early)?;

    server.kill()?;
    server.restart()?;
    play.broker.say("redis: killed (SIGKILL) and started again from its append-only file");

    play.broker.deliver_until_settled(&mut early, &play.order, Faults::default())?.replays(&receipt)?;
    let mut late = play.worker()?;
    play.broker.deliver_until_settled(&mut late, &play.order, Faults::default())?.replays(&receipt)?;
    play.finish(early)?;
    play.finish(late)
}

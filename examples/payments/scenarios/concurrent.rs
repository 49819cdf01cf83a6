//! Duplicates at the same time.

use std::thread;
use std::time::Duration;

use super::{Play, Scenario};
use crate::error::Error;
use crate::gateway::{Faults, Point};
use crate::process::Worker;
use crate::wire::{Answer, Report};

const WORKERS: usize = 4;

pub(super) const SCENARIO: Scenario = Scenario {
    name: "concurrent-duplicates",
    story: "one order is delivered to four workers at once; who is refused gets it again later",
    // Long enough for four claims to arrive while the winner is held up, however busy the machine is.
    lease: Duration::from_secs(2),
    restarts_redis: false,
    play,
    effects: &[false],
    guarantee: "One effect: a claim is one atomic command, so one call won; the others were refused at once and told when \
                to come back, instead of queueing or running too, and then got the winner's receipt.",
};

fn play(play: &mut Play<'_>) -> Result<(), Error> {
    let mut workers = (0..WORKERS).map(|_| play.worker()).collect::<Result<Vec<_>, _>>()?;
    // The winner is held up before its effect until the others have been answered: they meet it in flight for certain.
    let faults = Faults { pause: Some(Point::BeforeEffect), ..Faults::default() };
    for worker in &mut workers {
        play.broker.send(worker, &play.order, faults)?;
    }
    let mut winners = Vec::new();
    let mut wait = 0;
    for (index, worker) in workers.iter().enumerate() {
        match worker.report()? {
            Report::Charging => winners.push(index),
            Report::Answer(answer) => {
                play.broker.note(worker, &answer);
                wait = wait.max(retry_after(&answer)?);
            }
            said => return Err(worker.unexpected(said)),
        }
    }
    let &[winner] = &winners[..] else {
        return Err(Error::Otherwise { expected: "one winner".into(), got: format!("{} winners", winners.len()) });
    };
    let mut winner: Worker = workers.swap_remove(winner);
    winner.resume()?;
    let answer = winner.answer()?;
    play.broker.note(&winner, &answer);
    let receipt = answer.executed_by(&winner)?;

    thread::sleep(Duration::from_millis(wait));
    for mut worker in workers {
        play.broker.deliver_until_settled(&mut worker, &play.order, Faults::default())?.replays(&receipt)?;
        play.finish(worker)?;
    }
    play.finish(winner)
}

fn retry_after(answer: &Answer) -> Result<u64, Error> {
    match answer {
        Answer::Conflict { retry_after_ms } => Ok(*retry_after_ms),
        other => Err(other.instead_of("a conflict".into())),
    }
}

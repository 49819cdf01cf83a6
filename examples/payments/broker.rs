//! Delivering at least once: a broker that got no answer, or one that says "not now", delivers again.

use std::thread;
use std::time::Duration;

use serde::Serialize;

use crate::charge::{Order, Receipt};
use crate::error::Error;
use crate::gateway::{Faults, Point};
use crate::out::Out;
use crate::process::Worker;
use crate::wire::{Answer, Delivery, Report};

/// Enough for many leases to run out; then something is wrong, and a real broker would put the message aside.
const MAX_TRIES: u32 = 50;
/// Between two deliveries of what failed for no reason that tells a better time.
const PAUSE: Duration = Duration::from_millis(50);

/// What came of the deliveries, as the broker sees it. How often something was charged is not for it to say.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Tally {
    pub(crate) deliveries: u32,
    pub(crate) replays: u32,
    pub(crate) conflicts: u32,
    pub(crate) mismatches: u32,
    /// Deliveries whose worker died inside the charge: whether there was an effect, no answer tells.
    pub(crate) unknown: u32,
}

/// Delivers, and counts what comes back.
#[derive(Debug)]
pub(crate) struct Broker {
    pub(crate) tally: Tally,
    out: Out,
}

impl Broker {
    pub(crate) fn new(out: Out) -> Self {
        Self { tally: Tally::default(), out }
    }

    /// Tells the reader what happens beside the deliveries.
    pub(crate) fn say(&self, what: &str) {
        self.out.line(format_args!("   {what}"));
    }

    /// Delivers and does not wait.
    pub(crate) fn send(&mut self, worker: &mut Worker, order: &Order, faults: Faults) -> Result<(), Error> {
        self.tally.deliveries += 1;
        worker.deliver(Delivery { order: order.clone(), faults })
    }

    /// Delivers once.
    pub(crate) fn deliver(&mut self, worker: &mut Worker, order: &Order, faults: Faults) -> Result<Answer, Error> {
        self.send(worker, order, faults)?;
        let answer = worker.answer()?;
        self.note(worker, &answer);
        Ok(answer)
    }

    /// Delivers until there is an answer that another delivery would not change.
    pub(crate) fn deliver_until_settled(
        &mut self,
        worker: &mut Worker,
        order: &Order,
        faults: Faults,
    ) -> Result<Answer, Error> {
        for _ in 0..MAX_TRIES {
            match self.deliver(worker, order, faults)? {
                Answer::Conflict { retry_after_ms } => thread::sleep(Duration::from_millis(retry_after_ms)),
                Answer::Failed { retryable: true, .. } => thread::sleep(PAUSE),
                settled => return Ok(settled),
            }
        }
        Err(Error::Undelivered { order: order.id.clone(), tries: MAX_TRIES })
    }

    /// Delivers, waits until the charge has come to `point`, and kills the worker there.
    pub(crate) fn deliver_and_kill(&mut self, mut worker: Worker, order: &Order, point: Point) -> Result<(), Error> {
        self.send(&mut worker, order, Faults { pause: Some(point), ..Faults::default() })?;
        loop {
            match (worker.report()?, point) {
                (Report::Charging, Point::BeforeEffect) | (Report::Charged, Point::AfterEffect) => break,
                (Report::Charging, Point::AfterEffect) => {}
                (said, _) => return Err(worker.unexpected(said)),
            }
        }
        self.tally.unknown += 1;
        let pid = worker.pid();
        worker.kill();
        self.say(&format!("worker {pid}: killed (SIGKILL) {}", shown(point)));
        Ok(())
    }

    /// Counts an answer and shows it.
    pub(crate) fn note(&mut self, worker: &Worker, answer: &Answer) {
        match answer {
            Answer::Replayed { .. } => self.tally.replays += 1,
            Answer::Conflict { .. } => self.tally.conflicts += 1,
            Answer::Mismatch => self.tally.mismatches += 1,
            Answer::Executed { .. } | Answer::Declined | Answer::Failed { .. } => {}
        }
        self.say(&format!("worker {}: {answer}", worker.pid()));
    }
}

impl Answer {
    /// The receipt of a charge that `worker` made just now; anything else is not what the scenario is about.
    pub(crate) fn executed_by(self, worker: &Worker) -> Result<Receipt, Error> {
        match self {
            Self::Executed { receipt, .. } if receipt.charged_by == worker.pid() => Ok(receipt),
            other => Err(other.instead_of(format!("executed by worker {}", worker.pid()))),
        }
    }

    /// Must be an answer from the kept result, and the very receipt that the first delivery got.
    pub(crate) fn replays(self, first: &Receipt) -> Result<(), Error> {
        match self {
            Self::Replayed { receipt, .. } if receipt == *first => Ok(()),
            other => Err(other.instead_of(format!("a replay of {first:?}"))),
        }
    }

    /// Must be just this answer.
    pub(crate) fn is(self, expected: &Self) -> Result<(), Error> {
        if self == *expected { Ok(()) } else { Err(self.instead_of(expected.to_string())) }
    }

    pub(crate) fn instead_of(&self, expected: String) -> Error {
        Error::Otherwise { expected, got: format!("{self:?}") }
    }
}

fn shown(point: Point) -> &'static str {
    match point {
        Point::BeforeEffect => "inside the charge, before its effect",
        Point::AfterEffect => "inside the charge, after its effect was on disk, before it was recorded in Redis",
    }
}

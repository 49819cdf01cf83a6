//! What is played: each scenario a file, each with what the ledger must hold afterwards.

mod concurrent;
mod declined;
mod killed;
mod restarted;
mod reused_key;
mod sequential;

use std::time::Duration;

use crate::broker::Broker;
use crate::charge::Order;
use crate::error::Error;
use crate::ledger::{self, Entry};
use crate::out::Out;
use crate::process::{Setup, Worker};
use crate::report::{Results, Row};
use crate::stage::Stage;
use crate::totals::Totals;

const ALL: [Scenario; 7] = [
    sequential::SCENARIO,
    concurrent::SCENARIO,
    reused_key::SCENARIO,
    declined::SCENARIO,
    killed::BEFORE_EFFECT,
    killed::AFTER_EFFECT,
    restarted::SCENARIO,
];

/// Long against the few milliseconds of a charge, so that a slow machine is not taken for a crash; short for who has to wait
/// until a crash is believed.
const LEASE: Duration = Duration::from_millis(500);
const AMOUNT_CENTS: u64 = 4200;

/// One story about one order.
pub(crate) struct Scenario {
    name: &'static str,
    /// What happens.
    story: &'static str,
    lease: Duration,
    /// Whether it restarts Redis, which only a private one may be.
    restarts_redis: bool,
    play: fn(&mut Play<'_>) -> Result<(), Error>,
    /// The charges that the ledger must hold in the end: for each, whether it must be marked as a takeover.
    effects: &'static [bool],
    guarantee: &'static str,
}

/// A scenario under way.
pub(crate) struct Play<'a> {
    broker: Broker,
    order: Order,
    setup: Setup,
    totals: &'a mut Totals,
}

impl Play<'_> {
    fn worker(&self) -> Result<Worker, Error> {
        Worker::start(&self.setup)
    }

    /// Ends a worker that lived to tell what it counted.
    fn finish(&mut self, worker: Worker) -> Result<(), Error> {
        self.totals.add(&worker.finish()?);
        Ok(())
    }
}

/// Plays all scenarios, also after one has failed, so that one run shows all that is wrong.
pub(crate) fn run(out: Out) -> Result<Results, Error> {
    let mut stage = Stage::new()?;
    stage.introduce(out);
    let mut results = Results::default();
    for (index, scenario) in ALL.iter().enumerate() {
        let row = if scenario.restarts_redis && stage.is_shared() {
            out.line(format_args!("\n{}. {}: skipped, the server is not ours to restart", index + 1, scenario.name));
            Row::skipped(scenario.name)
        } else {
            out.line(format_args!("\n{}. {}: {}", index + 1, scenario.name, scenario.story));
            let order = Order { id: format!("order-{}", index + 1), amount_cents: AMOUNT_CENTS };
            play(scenario, order, &stage, &mut results.totals, out)?
        };
        results.rows.push(row);
    }
    if !results.ok() {
        stage.keep_ledger(out);
    }
    Ok(results)
}

fn play(scenario: &Scenario, order: Order, stage: &Stage, totals: &mut Totals, out: Out) -> Result<Row, Error> {
    let id = order.id.clone();
    let mut play = Play { broker: Broker::new(out), order, setup: stage.setup(scenario.lease), totals };
    let played = (scenario.play)(&mut play);
    let entries = stage.entries()?;
    let effects = ledger::of_order(&entries, &id);
    for (index, entry) in effects.iter().enumerate() {
        play.broker.say(&format!("ledger, line {} of this order: {}", index + 1, shown(entry)));
    }
    let complaint = played.err().map(|error| error.to_string()).or_else(|| disagreement(&effects, scenario.effects));
    match &complaint {
        Some(complaint) => play.broker.say(&format!("NOT AS GUARANTEED: {complaint}")),
        None => out.paragraph("   => ", scenario.guarantee),
    }
    Ok(Row::new(scenario.name, play.broker.tally, &effects, complaint.is_none()))
}

/// In what the ledger differs from what it must hold.
fn disagreement(effects: &[&Entry], expected: &[bool]) -> Option<String> {
    let flags: Vec<bool> = effects.iter().map(|entry| entry.takeover).collect();
    if flags != expected {
        return Some(format!("takeover flags of the ledger's lines: {flags:?}, expected {expected:?}"));
    }
    let wrong = effects.iter().find(|entry| entry.amount_cents != AMOUNT_CENTS)?;
    Some(format!("{} cents were charged, expected {AMOUNT_CENTS}", wrong.amount_cents))
}

fn shown(entry: &Entry) -> String {
    let Entry { amount_cents, attempt, takeover, worker, .. } = entry;
    let flag = if *takeover { ", marked as a takeover" } else { "" };
    format!("{amount_cents} cents by worker {worker} in attempt {attempt}{flag}")
}

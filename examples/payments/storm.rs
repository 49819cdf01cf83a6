//! Many workers killed at random moments of a charge. The question: does an effect ever repeat in silence?

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde::Serialize;

use crate::broker::Broker;
use crate::charge::Order;
use crate::error::Error;
use crate::gateway::Faults;
use crate::ledger::Entry;
use crate::out::Out;
use crate::process::{Setup, Worker};
use crate::stage::Stage;
use crate::wire::{Answer, Report};

/// Short: most of the time goes into waiting until a crash is believed.
const LEASE: Duration = Duration::from_millis(300);
/// What the gateway takes before, and again after, the effect: wide enough for a random moment to fall into.
const LATENCY_MS: u64 = 20;
const SLOW: Faults = Faults { pause: None, decline: false, latency_ms: LATENCY_MS };
/// Orders at a time. Waiting for leases needs no processor, so more than there are.
const LANES: u64 = 8;
/// One order in so many that was killed is killed once more.
const KILL_AGAIN: u32 = 3;
/// One order in so many is declined before it is charged at last.
const DECLINE: u32 = 2;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many workers to kill
    #[arg(long, value_name = "N")]
    kills: u32,
    /// Repeats the random choices of an earlier storm; what they hit still depends on the machine
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
}

/// What a storm came to, all of it counted in the ledger.
#[derive(Debug, Serialize)]
pub(crate) struct Storm {
    ok: bool,
    seed: u64,
    kills: u32,
    orders: usize,
    effects: usize,
    /// Effects of an order that had one already.
    second_effects: usize,
    /// Those of them that are marked as takeovers.
    flagged: usize,
    /// Those that are not: there must be none.
    silent: usize,
    /// Orders that were answered and are not in the ledger: there must be none.
    lost: usize,
}

/// Raises a storm and looks at the ledger afterwards.
pub(crate) fn run(args: &Args, out: Out) -> Result<Storm, Error> {
    let mut stage = Stage::new()?;
    let seed = args.seed.unwrap_or_else(rand::random);
    stage.introduce(out);
    out.line(format_args!("storm:  {} kills, seed {seed}", args.kills));
    let budget = Budget::new(args.kills);
    let setup = stage.setup(LEASE);
    let orders = thread::scope(|scope| {
        let start = |lane| Lane::new(lane, seed, &setup, &budget);
        let lanes: Vec<_> = (0..LANES).map(start).map(|mut lane| scope.spawn(move || lane.run())).collect();
        let mut orders = Vec::new();
        for lane in lanes {
            orders.extend(lane.join().map_err(|_| Error::Panicked)??);
        }
        Ok::<_, Error>(orders)
    })?;
    let storm = Storm::new(seed, args.kills, &orders, &stage.entries()?);
    if !storm.ok {
        stage.keep_ledger(out);
    }
    Ok(storm)
}

/// The kills that are left, for all lanes.
#[derive(Debug)]
struct Budget(Mutex<u32>);

impl Budget {
    fn new(kills: u32) -> Self {
        Self(Mutex::new(kills))
    }

    /// Takes one kill, if there is one.
    fn take(&self) -> bool {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let any = *left > 0;
        *left = left.saturating_sub(1);
        any
    }
}

/// One order after another.
struct Lane<'a> {
    name: u64,
    rng: StdRng,
    setup: &'a Setup,
    budget: &'a Budget,
    broker: Broker,
}

/// From when on a random delay runs until the kill. Aiming makes sure that every part of a charge is hit, on any machine.
#[derive(Debug, Clone, Copy)]
enum Aim {
    Delivered,
    Charging,
    Charged,
}

impl<'a> Lane<'a> {
    fn new(name: u64, seed: u64, setup: &'a Setup, budget: &'a Budget) -> Self {
        let rng = StdRng::seed_from_u64(seed.wrapping_add(name));
        Self { name, rng, setup, budget, broker: Broker::new(Out::Nowhere) }
    }

    /// Charges orders until no kill is left; gives their ids.
    fn run(&mut self) -> Result<Vec<String>, Error> {
        let mut orders = Vec::new();
        while self.budget.take() {
            let order = Order { id: format!("order-{}-{}", self.name, orders.len()), amount_cents: 4200 };
            let aim = [Aim::Delivered, Aim::Charging, Aim::Charged][self.rng.random_range(0..3)];
            self.deliver_and_kill(&order, aim)?;
            while self.rng.random_range(0..KILL_AGAIN) == 0 && self.budget.take() {
                // Not from the delivery on: the lease of the dead would still refuse it, and the kill would hit nothing.
                let aim = [Aim::Charging, Aim::Charged][self.rng.random_range(0..2)];
                self.deliver_and_kill(&order, aim)?;
            }
            self.settle(&order)?;
            orders.push(order.id);
        }
        Ok(orders)
    }

    /// Kills a worker somewhere around the charge. Should it have answered by then, the answer counts as lost.
    fn deliver_and_kill(&mut self, order: &Order, aim: Aim) -> Result<(), Error> {
        let mut worker = Worker::start(self.setup)?;
        self.broker.send(&mut worker, order, SLOW)?;
        let window = match aim {
            // The claim, and the charge.
            Aim::Delivered => LATENCY_MS * 3,
            Aim::Charging | Aim::Charged => {
                self.wait_for(aim, &mut worker, order)?;
                LATENCY_MS * 5 / 4
            }
        };
        thread::sleep(Duration::from_micros(self.rng.random_range(0..window * 1000)));
        worker.kill();
        Ok(())
    }

    /// Waits until the charge has come so far, or there is an answer: an earlier attempt was the one that succeeded.
    fn wait_for(&mut self, aim: Aim, worker: &mut Worker, order: &Order) -> Result<(), Error> {
        loop {
            match (worker.report()?, aim) {
                (Report::Answer(Answer::Conflict { retry_after_ms }), _) => {
                    thread::sleep(Duration::from_millis(retry_after_ms));
                    self.broker.send(worker, order, SLOW)?;
                }
                (Report::Charging, Aim::Charged) => {}
                _ => return Ok(()),
            }
        }
    }

    fn settle(&mut self, order: &Order) -> Result<(), Error> {
        let mut worker = Worker::start(self.setup)?;
        // An attempt that fails in between must not make the next one forget that an earlier one died.
        if self.rng.random_range(0..DECLINE) == 0 {
            self.broker.deliver_until_settled(&mut worker, order, Faults { decline: true, ..Faults::default() })?;
        }
        match self.broker.deliver_until_settled(&mut worker, order, Faults::default())? {
            Answer::Executed { .. } | Answer::Replayed { .. } => worker.finish().map(drop),
            other => Err(other.instead_of("a receipt".into())),
        }
    }
}

impl Storm {
    fn new(seed: u64, kills: u32, orders: &[String], entries: &[Entry]) -> Self {
        let mut flags_of: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
        for entry in entries {
            flags_of.entry(&entry.order).or_default().push(entry.takeover);
        }
        let repeated: Vec<bool> = flags_of.values().flat_map(|flags| &flags[1..]).copied().collect();
        let flagged = repeated.iter().filter(|flag| **flag).count();
        let silent = repeated.len() - flagged;
        let lost = orders.iter().filter(|order| !flags_of.contains_key(order.as_str())).count();
        let (orders, effects, second_effects) = (orders.len(), entries.len(), repeated.len());
        Self { ok: silent == 0 && lost == 0, seed, kills, orders, effects, second_effects, flagged, silent, lost }
    }

    /// Shows everything; tells whether nothing repeated in silence.
    pub(crate) fn conclude(&self, out: Out, json: bool) -> bool {
        out.line("");
        out.line(format_args!("{:>6} workers killed at random moments", self.kills));
        out.line(format_args!("{:>6} orders, all answered with a receipt in the end", self.orders));
        out.line(format_args!("{:>6} effects in the ledger", self.effects));
        out.line(format_args!(
            "{:>6} second effects: a worker died between the effect and its record",
            self.second_effects
        ));
        out.line(format_args!("{:>6} of these marked as takeovers", self.flagged));
        out.line(format_args!("{:>6} in silence", self.silent));
        out.line(format_args!("{:>6} orders without an effect", self.lost));
        out.line("");
        out.paragraph(
            "",
            if self.ok {
                "The ledger agrees with the guarantee: nothing was lost, and nothing was repeated without a mark."
            } else {
                "The ledger DISAGREES with the guarantee: something was lost, or repeated without a mark."
            },
        );
        if json {
            Out::Stdout.line(serde_json::to_string(self).unwrap_or_default());
        }
        self.ok
    }
}

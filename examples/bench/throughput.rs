//! Calls per second, idem beside the reference.

use std::time::Duration;

use serde::Serialize;
use test_support::RedisServer;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use crate::by_hand::ByHand;
use crate::effect;
use crate::load::{CALLERS, Stop, drive};
use crate::report::{Row, median};
use crate::side::{Answer, Failure, Side};
use crate::with_idem::WithIdem;

/// How much is measured.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    rounds: usize,
    round: Duration,
}

impl Plan {
    pub(crate) const FULL: Self = Self { rounds: 61, round: Duration::from_millis(100) };
    pub(crate) const QUICK: Self = Self { rounds: 15, round: Duration::from_millis(60) };
}

/// What the callers meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Case {
    /// A new key for each call: claimed, executed, completed.
    First,
    /// Keys whose result is kept.
    Replay,
    /// One key, which another call holds.
    Conflict,
}

/// A call that goes on until it is told to end.
type Holder = JoinHandle<Result<Answer, Failure>>;

/// Each caller's keys to be replayed.
const KEPT: usize = 16;
/// In the place of the round's number: keys made before the rounds.
const PREPARED: usize = usize::MAX >> 32;

pub(crate) fn compare(
    runtime: &Runtime,
    server: &RedisServer,
    by_hand: &ByHand,
    plan: Plan,
) -> Result<Vec<Row>, Failure> {
    let cases = [Case::First, Case::Replay, Case::Conflict];
    cases.into_iter().map(|case| compare_case(runtime, server, by_hand, plan, case)).collect()
}

fn compare_case(
    runtime: &Runtime,
    server: &RedisServer,
    by_hand: &ByHand,
    plan: Plan,
    case: Case,
) -> Result<Row, Failure> {
    server.command(&["FLUSHALL"])?;
    let (mut reference_ops, mut idem_ops) = (Vec::new(), Vec::new());
    let holders = [runtime.block_on(prepare(by_hand, case))?, runtime.block_on(prepare(&WithIdem, case))?];
    // The first round warms up and does not count.
    for number in 0..=plan.rounds {
        let mut by_hand_round =
            || round(runtime, server, by_hand, case, number, plan.round).map(|ops| reference_ops.push(ops));
        let mut idem_round =
            || round(runtime, server, &WithIdem, case, number, plan.round).map(|ops| idem_ops.push(ops));
        // Whoever comes second finds the machine as the first left it.
        if number % 2 == 0 {
            by_hand_round()?;
            idem_round()?;
        } else {
            idem_round()?;
            by_hand_round()?;
        }
    }
    let holders: Vec<_> = holders.into_iter().flatten().collect();
    for _ in &holders {
        effect::end_held();
    }
    for holder in holders {
        expect_result(&effect::held_key(), &runtime.block_on(holder)??)?;
    }
    Ok(Row::new(case, CALLERS, median(&reference_ops[1..]), median(&idem_ops[1..])))
}

/// Makes what the calls of a case are to meet.
async fn prepare<S: Side>(side: &S, case: Case) -> Result<Option<Holder>, Failure> {
    match case {
        Case::First => Ok(None),
        Case::Replay => {
            let side = side.clone();
            drive(Stop::Calls(KEPT * CALLERS), move |caller, number| {
                let (side, order) = (side.clone(), effect::key(PREPARED, caller, number));
                async move { expect_result(&order, &side.call(&order).await?) }
            })
            .await?;
            Ok(None)
        }
        Case::Conflict => {
            let before = effect::runs();
            let side = side.clone();
            let holder = tokio::spawn(async move { side.call(&effect::held_key()).await });
            while effect::runs() == before && !holder.is_finished() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            Ok(Some(holder))
        }
    }
}

fn round<S: Side>(
    runtime: &Runtime,
    server: &RedisServer,
    side: &S,
    case: Case,
    number: usize,
    length: Duration,
) -> Result<f64, Failure> {
    let before = effect::runs();
    let call = {
        let side = side.clone();
        move |caller, done| {
            let side = side.clone();
            async move { call(&side, case, number, caller, done).await }
        }
    };
    let ops = runtime.block_on(drive(Stop::After(length), call))?;
    let ran = effect::runs() - before;
    if case == Case::First {
        // The next round finds a server as empty as this one did.
        let kept = server.command(&["DBSIZE"])?.int().and_then(|kept| u64::try_from(kept).ok());
        if kept != Some(ran) {
            return Err(format!("{ran} effects, but {kept:?} results").into());
        }
        server.command(&["FLUSHALL"])?;
    } else if ran != 0 {
        return Err(format!("{ran} effects where none may happen").into());
    }
    Ok(ops)
}

async fn call<S: Side>(side: &S, case: Case, round: usize, caller: usize, done: usize) -> Result<(), Failure> {
    let order = match case {
        Case::First => effect::key(round, caller, done),
        Case::Replay => effect::key(PREPARED, caller, done % KEPT),
        Case::Conflict => effect::held_key(),
    };
    let answer = side.call(&order).await?;
    match (case, answer) {
        (Case::Conflict, Answer::Conflict(left)) if !left.is_zero() => Ok(()),
        (Case::Conflict, other) => Err(format!("no conflict but {other:?}").into()),
        (_, answer) => expect_result(&order, &answer),
    }
}

fn expect_result(order: &str, answer: &Answer) -> Result<(), Failure> {
    match answer {
        Answer::Result(result) if *result == effect::receipt(order) => Ok(()),
        other => Err(format!("not the result but {other:?}").into()),
    }
}

//! Calls that wait for another one with their key.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use idem::{Error, ErrorKind, OnConflict, Outcome, Policy};
use test_support::Monitor;

use crate::actors::{dies_in_its_body, job, short};
use crate::support::{LEASE, Runs, engine_with, kind, server};

const HELD: Duration = Duration::from_secs(2);
const WAITERS: u32 = 500;

const fn waiting(limit: Duration) -> Policy {
    Policy::new().on_conflict(OnConflict::Wait(limit))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_waiters_are_answered_from_one_result_without_a_storm() {
    let server = server();
    let engine = engine_with(&server, waiting(Duration::from_secs(30)));
    let runs = Runs::default();
    let (began, begins) = tokio::sync::oneshot::channel();
    let holder = job(&engine).run(async |_| {
        runs.add();
        began.send(()).unwrap();
        tokio::time::sleep(HELD).await;
        Ok::<Outcome<u32>, Error>(7.into())
    });
    let waiters = async {
        begins.await.unwrap();
        let monitor = Monitor::start(&server).expect("a monitor");
        let since = Instant::now();
        let call = || job(&engine).run(async |_| Ok::<Outcome<u32>, Error>(u32::MAX.into()));
        let answers = join_all((0..WAITERS).map(|_| call())).await;
        (answers, since.elapsed(), monitor.client_commands().expect("the monitor"))
    };
    let (held, (answers, took, commands)) = tokio::join!(holder, waiters);
    held.expect("it ran");
    assert_eq!(runs.count(), 1);
    for answer in answers {
        let answer = answer.expect("answered");
        assert!(*answer == 7 && answer.seen().expect("it ended").is_replayed());
    }

    let sent = u32::try_from(commands.len()).expect("fewer");
    let a_second = f64::from(sent) / f64::from(WAITERS) / took.as_secs_f64();
    assert!(a_second <= 20.0, "{a_second} commands a second and waiter");
    // What they send is spread: after the first looks, no tenth of a second has twice its share of what is allowed.
    let first = commands.first().expect("they asked").at();
    let mut tenths = [0_u32; 40];
    for command in &commands {
        let tenth = command.at().saturating_sub(first).as_millis() / 100;
        tenths[usize::try_from(tenth).expect("a small number").min(39)] += 1;
    }
    let most = tenths[5..].iter().max().expect("tenths");
    assert!(*most <= 4 * WAITERS, "{most} commands in a tenth of a second");
    println!("{a_second:.1} commands a second and waiter; tenths of a second: {:?}", &tenths[..25]);
}

#[tokio::test]
async fn a_waiting_call_takes_over_from_a_worker_that_died() {
    let server = server();
    let engine = engine_with(&server, short().on_conflict(OnConflict::Wait(Duration::from_secs(10))));
    dies_in_its_body(&engine).await;
    let ran = job(&engine).run(async |attempt| Ok::<_, Error>((attempt.number(), attempt.is_takeover())));
    assert_eq!(ran.await.expect("its turn"), (2, true));
}

#[tokio::test]
async fn at_its_limit_a_waiting_call_gets_the_conflict() {
    let server = server();
    let engine = engine_with(&server, short().on_conflict(OnConflict::Wait(LEASE * 2)));
    let began = Instant::now();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let holder = job(&engine).run(async |_| {
        ended.await.unwrap();
        Ok::<u32, Error>(1)
    });
    let waiter = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let refused = job(&engine).run(async |_| Ok::<u32, Error>(2)).await;
        assert_eq!(kind(refused), ErrorKind::InFlight);
        assert!(began.elapsed() >= LEASE * 2);
        end.send(()).unwrap();
    };
    let (held, ()) = tokio::join!(holder, waiter);
    assert_eq!(held.expect("it ran"), 1);
}

//! Many leases at once, and one engine on many runtimes.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use idem::{Engine, Error, Policy, metrics};
use metrics_util::debugging::DebuggingRecorder;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::Semaphore;

use crate::actors::short;
use crate::support::{LEASE, engine, keys, server};
use crate::trouble::{Counts, builder_at, eventually, info, warm};

/// Scenario F24, in small.
#[tokio::test]
async fn ten_thousand_leases_are_renewed_by_one_keeper_and_none_is_lost() {
    const MANY: u32 = 10_000;
    const FEW: usize = 100;
    // Long enough for the renewals of a debug build on a machine that has more to do.
    let lease = Duration::from_secs(10);
    let recorder = DebuggingRecorder::new();
    let counts = Counts::of(&recorder);
    let _guard = ::metrics::set_default_local_recorder(&recorder);
    let server = server();
    let policy = Policy::new().lease(lease).retention(Duration::from_secs(600));
    let engine = builder_at(&server.url(), true).policy(policy).store_bound(Duration::from_secs(30)).build().unwrap();
    warm(&engine).await;
    drop(counts.take());
    let tasks = Handle::current().metrics().num_alive_tasks();

    // All are held at once. Few begin or end at once: one task that is woken by thousands of futures polls them all, again
    // and again, for the few that its budget lets go on.
    let (begin, end) = (Semaphore::new(FEW), Semaphore::new(0));
    let leased = async |number: u32| {
        let beginning = begin.acquire().await.expect("open");
        let mut ending = None;
        let call = engine.operation("many").key(&number).fingerprint(&());
        let call = call.run(async |attempt| {
            drop(beginning);
            tokio::select! {
                loss = attempt.lost() => panic!("{number}: {loss:?}"),
                permit = end.acquire() => ending = permit.ok(),
            }
            Ok::<_, Error>(number)
        });
        call.await
    };
    let mut held: FuturesUnordered<_> = (0..MANY).map(leased).collect();
    let all_run = async {
        eventually("all run", || keys(&server) >= i64::from(MANY)).await;
        assert_eq!(Handle::current().metrics().num_alive_tasks(), tasks, "no task each");
        tokio::time::sleep(lease * 3).await;
        end.add_permits(FEW);
    };
    let complete = async {
        while let Some(ended) = held.next().await {
            ended.expect("executed");
        }
    };
    tokio::join!(complete, all_run);
    let counted = counts.take();
    assert_eq!(counted.sum(metrics::CALLS, &[("outcome", "executed")]), u64::from(MANY));
    for never in [metrics::LEASES_LOST, metrics::TAKEOVERS, metrics::VANISHED, metrics::STORE_ERRORS] {
        assert_eq!(counted.sum(never, &[]), 0, "{never}");
    }
}

fn runtime(number: usize) -> Runtime {
    let mut builder =
        if number.is_multiple_of(2) { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    builder.worker_threads(2).enable_all().build().expect("a runtime")
}

/// One call of two leases, which must neither hang nor lose its lease.
async fn two_leases(engine: &Engine, key: &str) {
    let lease = LEASE * 2;
    let policy = short().lease(lease);
    let call = engine.operation("runtimes").policy(policy).key(key).fingerprint(&());
    let call = call.run(async |attempt| {
        tokio::time::sleep(lease * 2).await;
        assert_eq!(attempt.loss(), None);
        Ok::<_, Error>(())
    });
    tokio::time::timeout(Duration::from_secs(20), call).await.expect("no hang").expect("executed");
}

#[test]
fn one_engine_serves_runtimes_at_once_and_one_after_another() {
    let server = server();
    let engine = engine(&server);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let engine = &engine;
            scope.spawn(move || {
                for round in 0..5 {
                    let runtime = runtime(thread + round);
                    let key = format!("{thread} {round}");
                    runtime.block_on(two_leases(engine, &key));
                    // What still runs goes down with its runtime.
                    let hangs = engine.operation("runtimes").key(&(key + " hangs")).fingerprint(&());
                    runtime.spawn(hangs.run(async |_| std::future::pending::<Result<(), Error>>().await));
                    runtime.block_on(tokio::task::yield_now());
                    drop(runtime);
                }
            });
        }
    });
    let last = runtime(0);
    last.block_on(async {
        two_leases(&engine, "last").await;
        // The others took their connections along. What is left: this one's and the keeper thread's, three each at most,
        // and the look itself.
        let connected = || {
            let clients = info(&server, "clients");
            let count =
                clients.lines().find_map(|line| line.strip_prefix("connected_clients:")?.trim().parse::<u32>().ok());
            count.expect("a count")
        };
        eventually("closed", || connected() <= 7).await;
    });
}

//! Leases that are held: renewed for as long as the body runs, and never taken over.

use std::sync::Arc;
use std::time::{Duration, Instant};

use idem::{Error, ErrorKind, Policy, metrics};
use metrics_util::debugging::DebuggingRecorder;
use test_support::Monitor;
use tokio::sync::oneshot;

use crate::actors::{KEY, Remote, follow, job, lease_left, renewals, replayed, short};
use crate::support::{LEASE, Runs, engine, engine_with, kind, pttl, server, value};
use crate::trouble::{Counts, eventually};

/// A lease with room for what a busy machine does to its renewals.
const LONG: Duration = Duration::from_secs(1);

/// Cases O-02 and O-08.
#[tokio::test]
async fn a_body_of_ten_leases_runs_once_and_its_lease_never_comes_near_its_end() {
    let recorder = DebuggingRecorder::new();
    let counts = Counts::of(&recorder);
    let _guard = ::metrics::set_default_local_recorder(&recorder);
    let server = server();
    let (a, b) = (engine_with(&server, short().lease(LONG)), engine(&server));
    let runs = Runs::default();

    let (started, running) = oneshot::channel();
    let (end, ended) = oneshot::channel::<()>();
    let long = job(&a).run(async |_| {
        runs.add();
        started.send(()).unwrap();
        ended.await.unwrap();
        Ok::<_, Error>(1)
    });
    let meanwhile = async {
        running.await.unwrap();
        let began = Instant::now();
        for look in 0.. {
            if began.elapsed() > LONG * 10 {
                break;
            }
            let left = lease_left(&server, KEY).expect("in flight");
            let lease = i64::try_from(LONG.as_millis()).unwrap();
            assert!((lease / 4..=lease + 50).contains(&left), "{left} ms at look {look}");
            if look % 3 == 0 {
                assert_eq!(kind(job(&b).run(async |_| Ok::<_, Error>(runs.add())).await), ErrorKind::InFlight);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        end.send(()).unwrap();
    };
    let (first, ()) = tokio::join!(long, meanwhile);
    assert_eq!(first.unwrap(), 1);
    let kept = pttl(&server, KEY);
    assert!((59_000..=60_000).contains(&kept), "{kept}");
    assert_eq!(replayed(&b).await, 1);
    assert_eq!(runs.count(), 1);
    let counted = counts.take();
    assert!(counted.sum(metrics::CONFLICTS, &[]) >= 50, "{counted:?}");
    for never in [metrics::TAKEOVERS, metrics::LEASES_LOST, metrics::VANISHED, metrics::STORE_ERRORS] {
        assert_eq!(counted.sum(never, &[]), 0, "{never}");
    }
}

/// Case O-02: a lease whose end cannot be told is not over.
#[tokio::test]
async fn on_a_lease_without_a_readable_end_nothing_runs() {
    let server = server();
    // So long that no renewal repairs the damage meanwhile.
    let policy = Policy::new().lease(Duration::from_secs(30));
    let (a, b) = (engine_with(&server, policy), engine_with(&server, policy));
    let blank = " ".repeat(13);
    for damage in [&["SETRANGE", KEY, "62", &blank][..], &["SETRANGE", KEY, "62", "-"], &["PERSIST", KEY]] {
        let runs = Runs::default();
        let owner = job(&a).run(async |_| {
            runs.add();
            server.command(damage).expect("damaged");
            let damaged = value(&server, KEY);
            assert_eq!(kind(job(&b).run(async |_| Ok::<_, Error>(runs.add())).await), ErrorKind::Corrupt);
            assert_eq!(value(&server, KEY), damaged, "{damage:?}");
            Ok::<_, Error>(1)
        });
        assert_eq!(owner.await.expect("its value, recorded or not"), 1);
        assert_eq!(runs.count(), 1, "{damage:?}");
        server.command(&["DEL", KEY]).expect("DEL");
    }
}

/// Case O-12: the lease is short although the record lives long, and the result lives for the retention.
#[tokio::test]
async fn the_lease_ends_by_the_lease_and_the_result_by_the_retention() {
    let server = server();
    let day = Duration::from_secs(86_400);
    let engine = engine_with(&server, Policy::new().lease(LEASE).retention(day));
    let lefts = job(&engine).run(async |_| {
        let mut lefts = Vec::new();
        for _ in 0..10 {
            lefts.push(lease_left(&server, KEY));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok::<_, Error>(lefts)
    });
    let most = i64::try_from(LEASE.as_millis()).unwrap() + 2;
    assert!(lefts.await.unwrap().into_iter().flatten().all(|left| left > 0 && left <= most));

    let day = i64::try_from(day.as_millis()).unwrap();
    let kept = pttl(&server, KEY);
    assert!((day - 1000..=day).contains(&kept), "{kept}");
    tokio::time::sleep(LEASE * 2).await;
    let again = job(&engine).run(async |_| -> Result<Vec<Option<i64>>, Error> { panic!("runs again") });
    assert_eq!(again.await.unwrap().len(), 10);
}

#[tokio::test]
async fn a_body_that_hangs_is_renewed_for_max_run_and_then_taken_over() {
    let server = server();
    let max_run = LEASE * 3;
    let (a, b) = (engine_with(&server, short().max_run(max_run)), engine(&server));
    let began = Instant::now();
    let hangs = job(&a).run(async |_| std::future::pending::<Result<u32, Error>>().await);
    let follows = async {
        eventually("claimed", || value(&server, KEY).is_some()).await;
        let attempt = follow(&b, 2).await;
        (began.elapsed(), attempt)
    };
    let (after, attempt) = tokio::select! {
        _ = hangs => panic!("hangs"),
        followed = follows => followed,
    };
    assert!((max_run..max_run + LEASE + Duration::from_millis(500)).contains(&after), "{after:?}");
    assert_eq!((attempt.number(), attempt.is_takeover()), (2, true));
    assert_eq!(replayed(&a).await, 2);
}

/// A body may block a worker, and with it whatever was last woken there.
#[tokio::test]
async fn a_body_that_blocks_its_thread_for_leases_is_run_once() {
    let server = server();
    let b = engine(&server);
    let workers = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for blocks in [&[5][..], &[2, 2, 2]] {
        let (a, runs) = (engine_with(&server, short().lease(LONG)), Arc::new(Runs::default()));
        let owner = workers.spawn({
            let runs = Arc::clone(&runs);
            async move {
                let call = job(&a).run(async |_| {
                    for leases in blocks {
                        std::thread::sleep(LONG * *leases);
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                    Ok::<_, Error>(runs.add())
                });
                call.await
            }
        });
        eventually("claimed", || value(&server, KEY).is_some()).await;
        let mut conflicts = 0;
        loop {
            // Whoever runs second gives a 2.
            match job(&b).run(async |_| Ok::<_, Error>(runs.add())).await {
                Ok(first) => break assert_eq!(first, 1),
                Err(error) => assert_eq!(error.kind(), ErrorKind::InFlight),
            }
            conflicts += 1;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(owner.await.expect("no panic").unwrap(), 1);
        assert_eq!(runs.count(), 1);
        assert!(conflicts > 20, "{conflicts}");
        server.command(&["DEL", KEY]).expect("DEL");
    }
    workers.shutdown_background();
}

/// Nothing can renew there while the body blocks.
#[tokio::test]
async fn a_body_that_blocks_a_current_thread_runtime_is_told_of_its_loss() {
    let server = server();
    let (a, b) = (engine(&server), engine(&server));
    let owner = job(&a).run(async |_| {
        let follower = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(follow(&b, 2)).number()
        });
        assert_eq!(follower.join().expect("no panic"), 2);
        Ok::<_, Error>(1)
    });
    assert_eq!(kind(owner.await), ErrorKind::LeaseLost);
    assert_eq!(replayed(&a).await, 2);
}

/// Case O-09, part 1.
#[tokio::test]
async fn a_network_that_breaks_for_a_moment_costs_no_lease() {
    let server = server();
    let a = Remote::new(&server, short().lease(LONG));
    let b = engine(&server);
    let owner = job(&a.engine).run(async |attempt| {
        for _ in 0..3 {
            tokio::time::sleep(LONG / 2).await;
            a.cut_off();
            tokio::time::sleep(Duration::from_millis(100)).await;
            a.proxy.refuse(false);
            assert_eq!(kind(job(&b).run(async |_| Ok::<_, Error>(2)).await), ErrorKind::InFlight);
            tokio::time::sleep(LONG / 2).await;
            assert_eq!(attempt.loss(), None);
        }
        Ok::<_, Error>(1)
    });
    assert_eq!(owner.await.unwrap(), 1);
    assert_eq!(replayed(&b).await, 1);
    let monitor = Monitor::start(&server).expect("a monitor");
    tokio::time::sleep(LONG).await;
    assert_eq!(renewals(&monitor), 0, "it ended");
}

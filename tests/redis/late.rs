//! Owners that are late: their lease ends while their body runs, and somebody follows, or nobody does.

use std::time::{Duration, Instant};

use idem::{Attempt, Error, ErrorKind, Loss, OnLoss, Outcome, Policy, metrics};
use metrics_util::debugging::DebuggingRecorder;
use test_support::{Direction, Monitor};
use tokio::sync::oneshot;

use crate::actors::{KEY, Remote, follow, job, lease_left, renewals, replayed, short, unrenewed, usurp};
use crate::support::{LEASE, Runs, engine, engine_with, keys, kind, pttl, server, value};
use crate::trouble::{Counts, eventually};

/// A lease with room for what a busy machine does to its renewals.
const LONG: Duration = Duration::from_millis(900);
/// Between a loss and its being told: a period of the keeper's, and what a busy machine may add.
const TOLD_WITHIN: Duration = Duration::from_millis(300 + 200);

/// Case O-05, part 1.
#[tokio::test]
async fn a_late_completion_counts_where_nobody_followed() {
    let recorder = DebuggingRecorder::new();
    let counts = Counts::of(&recorder);
    let _guard = ::metrics::set_default_local_recorder(&recorder);
    let server = server();
    let engine = engine_with(&server, unrenewed());
    let late = job(&engine).run(async |attempt| {
        assert_eq!(attempt.lost().await, Loss::Doubtful);
        assert_eq!(attempt.remaining(), Duration::ZERO);
        tokio::time::sleep(LEASE).await;
        assert!(lease_left(&server, KEY).expect("in flight") < 0);
        Ok::<Outcome<u32>, Error>(1.into())
    });
    let outcome = late.await.expect("nobody followed");
    let seen = outcome.seen().unwrap();
    assert!(seen.is_recorded() && !seen.is_replayed() && !seen.had_vanished());
    assert_eq!(replayed(&engine).await, 1);
    let counted = counts.take();
    for never in [metrics::LEASES_LOST, metrics::VANISHED, metrics::UNRECORDED, metrics::TAKEOVERS] {
        assert_eq!(counted.sum(never, &[]), 0, "{never}");
    }
}

/// Case O-05, part 2.
#[tokio::test]
async fn a_late_completion_is_refused_where_another_call_followed() {
    let recorder = DebuggingRecorder::new();
    let counts = Counts::of(&recorder);
    let _guard = ::metrics::set_default_local_recorder(&recorder);
    let server = server();
    let (a, b) = (engine_with(&server, unrenewed()), engine(&server));
    let late = job(&a).run(async |attempt| {
        let follower = follow(&b, 2).await;
        assert_eq!((follower.number(), follower.is_takeover()), (2, true));
        assert!(follower.fence() > attempt.fence());
        Ok::<_, Error>(1)
    });
    assert_eq!(kind(late.await), ErrorKind::LeaseLost);
    assert_eq!(replayed(&a).await, 2);
    let counted = counts.take();
    assert_eq!(counted.sum(metrics::LEASES_LOST, &[]), 1);
    assert_eq!(counted.sum(metrics::TAKEOVERS, &[]), 1);
    assert_eq!(counted.sum(metrics::CALLS, &[("outcome", "lease_lost")]), 1);
    assert_eq!(counted.sum(metrics::CALLS, &[("outcome", "executed")]), 1);
}

/// Case O-06: the record is another call's by now.
#[tokio::test]
async fn a_late_renewal_changes_nothing_of_its_follower_and_is_the_last() {
    let server = server();
    let a = Remote::new(&server, short().on_lost(OnLoss::RunOn));
    let b = engine_with(&server, Policy::new().lease(Duration::from_secs(30)));
    let (owner, running) = oneshot::channel::<Attempt>();
    let (end, ended) = oneshot::channel::<()>();
    let late = job(&a.engine).run(async |attempt| {
        owner.send(attempt).unwrap();
        ended.await.unwrap();
        Ok::<_, Error>(1)
    });
    let meanwhile = async {
        let owner = running.await.unwrap();
        let monitor = Monitor::start(&server).expect("a monitor");
        eventually("renewed", || renewals(&monitor) > 0).await;
        a.proxy.hold(Direction::ToServer, true);
        eventually("over", || lease_left(&server, KEY).expect("in flight") <= 0).await;
        let follower = job(&b).run(async |attempt| {
            assert!(attempt.is_takeover());
            let (record, life) = (value(&server, KEY), pttl(&server, KEY));
            let before = renewals(&monitor);
            a.proxy.hold(Direction::ToServer, false);
            eventually("told", || owner.loss() == Some(Loss::Lost)).await;
            let sent = renewals(&monitor);
            assert!(sent > before);
            tokio::time::sleep(LEASE * 2).await;
            assert_eq!(renewals(&monitor), sent, "no renewal after the loss");
            assert_eq!(value(&server, KEY), record);
            let left = pttl(&server, KEY);
            assert!(left <= life - i64::try_from(LEASE.as_millis()).unwrap(), "{life} then {left}");
            Ok::<_, Error>(2)
        });
        assert_eq!(follower.await.unwrap(), 2);
        end.send(()).unwrap();
    };
    let (late, ()) = tokio::join!(late, meanwhile);
    assert_eq!(kind(late), ErrorKind::LeaseLost);
    assert_eq!(replayed(&b).await, 2);
}

/// Case O-06: the server lost the record, and the owner's lease lives.
#[tokio::test]
async fn a_record_that_vanished_is_written_again_while_its_lease_lives() {
    let recorder = DebuggingRecorder::new();
    let counts = Counts::of(&recorder);
    let _guard = ::metrics::set_default_local_recorder(&recorder);
    let server = server();
    let (a, b) = (engine(&server), engine(&server));
    let owner = job(&a).run(async |_| {
        let record = value(&server, KEY);
        server.command(&["DEL", KEY]).expect("DEL");
        eventually("written again", || value(&server, KEY).is_some()).await;
        assert_eq!(value(&server, KEY), record);
        assert_eq!(kind(job(&b).run(async |_| Ok::<_, Error>(2)).await), ErrorKind::InFlight);
        Ok::<Outcome<u32>, Error>(1.into())
    });
    let outcome = owner.await.expect("executed");
    let seen = outcome.seen().unwrap();
    assert!(seen.had_vanished() && seen.is_recorded());
    assert_eq!(counts.take().sum(metrics::VANISHED, &[]), 1);
    assert_eq!(replayed(&b).await, 1);
}

/// Case O-06: the server lost the record, and the owner could not renew its lease in time.
#[tokio::test]
async fn a_record_that_vanished_is_not_written_again_after_its_lease() {
    let recorder = DebuggingRecorder::new();
    let counts = Counts::of(&recorder);
    let _guard = ::metrics::set_default_local_recorder(&recorder);
    let server = server();
    let a = Remote::new(&server, short());
    let late = job(&a.engine).run(async |attempt| {
        a.cut_off();
        assert_eq!(attempt.lost().await, Loss::Doubtful);
        tokio::time::sleep(LEASE).await;
        server.command(&["DEL", KEY]).expect("DEL");
        let monitor = Monitor::start(&server).expect("a monitor");
        a.proxy.refuse(false);
        eventually("renewals", || renewals(&monitor) > 2).await;
        assert_eq!(keys(&server), 0);
        assert_eq!((attempt.loss(), attempt.remaining()), (Some(Loss::Doubtful), Duration::ZERO));
        Ok::<Outcome<u32>, Error>(1.into())
    });
    let outcome = late.await.expect("its value");
    let seen = outcome.seen().unwrap();
    assert!(!seen.is_recorded() && !seen.had_vanished());
    assert_eq!(keys(&server), 0);
    let counted = counts.take();
    assert_eq!(counted.sum(metrics::VANISHED, &[]), 0);
    assert_eq!(counted.sum(metrics::LEASES_LOST, &[]), 0);
    assert_eq!(counted.sum(metrics::UNRECORDED, &[]), 1);
}

/// Scenario F3: an absence that the owner slept through is an expiry, not a loss of the server's.
#[tokio::test]
async fn a_completion_after_the_records_life_is_unrecorded_and_not_counted_as_vanished() {
    let recorder = DebuggingRecorder::new();
    let counts = Counts::of(&recorder);
    let _guard = ::metrics::set_default_local_recorder(&recorder);
    let server = server();
    let brief = Policy::new().lease(LEASE).retention(Duration::from_millis(200));
    let (a, b) = (engine_with(&server, brief.max_run(Duration::from_millis(1))), engine_with(&server, brief));
    let late = job(&a).run(async |_| {
        follow(&b, 2).await;
        eventually("expired", || keys(&server) == 0).await;
        Ok::<Outcome<u32>, Error>(1.into())
    });
    let outcome = late.await.expect("its value");
    let seen = outcome.seen().unwrap();
    assert!(!seen.is_recorded() && !seen.is_replayed() && !seen.had_vanished());
    assert_eq!(*outcome, 1);
    assert_eq!(keys(&server), 0);
    let counted = counts.take();
    assert_eq!(counted.sum(metrics::VANISHED, &[]), 0);
    assert_eq!(counted.sum(metrics::UNRECORDED, &[]), 1);
}

/// Case O-10: by default a body that was followed is dropped.
#[tokio::test]
async fn a_body_is_cancelled_as_soon_as_its_owner_can_know_of_its_follower() {
    struct Dropped(Option<oneshot::Sender<Instant>>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            let _ = self.0.take().expect("dropped once").send(Instant::now());
        }
    }

    let recorder = DebuggingRecorder::new();
    let counts = Counts::of(&recorder);
    let _guard = ::metrics::set_default_local_recorder(&recorder);
    let server = server();
    let (a, b) = (Remote::new(&server, short().lease(LONG)), engine(&server));
    let (dropped, when) = oneshot::channel();
    let (started, running) = oneshot::channel();
    let owner = job(&a.engine).run(async |_| {
        let _dropped = Dropped(Some(dropped));
        started.send(()).unwrap();
        std::future::pending::<Result<u32, Error>>().await
    });
    let meanwhile = async {
        running.await.unwrap();
        a.proxy.hold(Direction::ToServer, true);
        follow(&b, 2).await;
        a.proxy.hold(Direction::ToServer, false);
        let let_go = Instant::now();
        when.await.unwrap().duration_since(let_go)
    };
    let (owner, after) = tokio::join!(owner, meanwhile);
    assert_eq!(kind(owner), ErrorKind::LeaseLost);
    assert!(after <= TOLD_WITHIN, "{after:?}");
    assert_eq!(counts.take().sum(metrics::LEASES_LOST, &[]), 1);
    assert_eq!(replayed(&b).await, 2);
}

/// Case O-10: a body that runs on is told, and what it completes with is refused. Both notice, one is counted.
#[tokio::test]
async fn a_body_that_runs_on_is_told_of_its_loss_and_its_write_is_refused() {
    let recorder = DebuggingRecorder::new();
    let counts = Counts::of(&recorder);
    let _guard = ::metrics::set_default_local_recorder(&recorder);
    let server = server();
    let (a, b) = (engine_with(&server, short().lease(LONG).on_lost(OnLoss::RunOn)), engine(&server));
    let runs = Runs::default();
    let owner = job(&a).run(async |attempt| {
        usurp(&server, &b, 2).await;
        let followed = Instant::now();
        assert_eq!(attempt.lost().await, Loss::Lost);
        let after = followed.elapsed();
        assert!(after <= TOLD_WITHIN, "{after:?}");
        assert_eq!((attempt.loss(), attempt.remaining()), (Some(Loss::Lost), Duration::ZERO));
        tokio::time::sleep(LONG).await;
        Ok::<_, Error>(runs.add())
    });
    assert_eq!(kind(owner.await), ErrorKind::LeaseLost);
    assert_eq!(runs.count(), 1, "it ran to its end");
    assert_eq!(counts.take().sum(metrics::LEASES_LOST, &[]), 1);
    assert_eq!(replayed(&b).await, 2);
}

/// Case O-10, O-09 part 2, and F13: the store cannot be reached past the lease.
#[tokio::test]
async fn a_body_is_told_that_its_lease_is_doubtful_and_no_more_so_once_it_is_renewed() {
    let server = server();
    let a = Remote::new(&server, short().lease(LONG));
    let owner = job(&a.engine).run(async |attempt| {
        a.part();
        let parted = Instant::now();
        assert_eq!(attempt.lost().await, Loss::Doubtful);
        let after = parted.elapsed();
        assert!(after <= LONG + TOLD_WITHIN, "{after:?}");
        assert_eq!((attempt.loss(), attempt.remaining()), (Some(Loss::Doubtful), Duration::ZERO));
        a.mend();
        eventually("sure again", || attempt.loss().is_none()).await;
        assert!(attempt.remaining() > Duration::ZERO);
        Ok::<Outcome<u32>, Error>(1.into())
    });
    let outcome = owner.await.expect("nobody followed");
    assert!(outcome.seen().unwrap().is_recorded());
    assert_eq!(replayed(&a.engine).await, 1);
}

/// Case O-10: the choice of those for whom a doubtful lease is as good as none.
#[tokio::test]
async fn a_body_in_doubt_is_cancelled_where_the_policy_says_so() {
    let server = server();
    let a = Remote::new(&server, short().lease(LONG).on_doubt(OnLoss::Cancel));
    let owner = job(&a.engine).run(async |_| {
        a.part();
        std::future::pending::<Result<u32, Error>>().await
    });
    let began = Instant::now();
    assert_eq!(kind(owner.await), ErrorKind::LeaseLost);
    assert!(began.elapsed() <= LONG + TOLD_WITHIN, "{:?}", began.elapsed());
    let attempt = follow(&engine(&server), 2).await;
    assert_eq!((attempt.number(), attempt.is_takeover()), (2, true));
}

/// Case O-09, parts 2 and 3: the outage outlasts body and lease. Never a silent success, and the next owner is renewed.
#[tokio::test]
async fn after_an_outage_the_value_is_marked_unrecorded_and_the_next_call_is_renewed() {
    let server = server();
    let a = Remote::new(&server, short().lease(LONG));
    let owner = job(&a.engine).run(async |attempt| {
        a.part();
        assert_eq!(attempt.lost().await, Loss::Doubtful);
        Ok::<Outcome<u32>, Error>(1.into())
    });
    let outcome = owner.await.expect("its value");
    assert_eq!(*outcome, 1);
    assert!(!outcome.seen().unwrap().is_recorded());

    a.mend();
    let next = job(&a.engine).run(async |attempt| {
        assert_eq!((attempt.number(), attempt.is_takeover()), (2, true));
        let began = Instant::now();
        while began.elapsed() < LONG * 4 {
            assert!(lease_left(&server, KEY).expect("in flight") > 0);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(attempt.loss(), None);
        Ok::<Outcome<u32>, Error>(2.into())
    });
    assert!(next.await.expect("executed").seen().unwrap().is_recorded());
    assert_eq!(replayed(&a.engine).await, 2);
}

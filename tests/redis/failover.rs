//! A failover while the connections stay: the old primary lives on as a replica, and refuses to write.

use std::cell::Cell;
use std::time::{Duration, Instant};

use idem::ErrorKind;
use test_support::{Proxy, RedisServer, expect_within};

use crate::support::{Runs, kind, server};
use crate::trouble::{
    AMPLE, LONG_LEASE, SHORT_LEASE, call, call_around, engine_at, fails_after, info, result_of, trouble, until_it_runs,
    warm,
};

/// A primary and its replica, behind one address.
struct Pair {
    primary: RedisServer,
    replica: RedisServer,
    proxy: Proxy,
}

impl Pair {
    fn start() -> Self {
        let primary =
            RedisServer::builder().option("repl-diskless-sync-delay", "0").start().expect("a private redis-server");
        let replica = server();
        follow(&replica, &primary);
        expect_within(AMPLE, || info(&replica, "replication").contains("master_link_status:up"));
        let proxy = Proxy::start(primary.port()).expect("a proxy");
        Self { primary, replica, proxy }
    }

    /// Everything written so far is on the replica; then the two change places, and new connections lead there.
    fn fail_over(&self) {
        let mut client = self.primary.client().expect("a connection");
        client.call(&["SET", "marker", "x"]).expect("SET");
        assert_eq!(client.call(&["WAIT", "1", "10000"]).expect("WAIT").int(), Some(1));
        self.replica.command(&["REPLICAOF", "NO", "ONE"]).expect("REPLICAOF");
        follow(&self.primary, &self.replica);
        self.proxy.retarget(self.replica.port());
    }
}

fn follow(replica: &RedisServer, primary: &RedisServer) {
    replica.command(&["REPLICAOF", "127.0.0.1", &primary.port().to_string()]).expect("REPLICAOF");
}

/// Case O-20.
#[tokio::test]
async fn a_lane_to_a_demoted_server_is_left_after_its_first_refusal() {
    let pair = Pair::start();
    let engine = engine_at(&pair.proxy.url(), LONG_LEASE);
    warm(&engine).await;
    let runs = Runs::default();
    call(&engine, "before", &runs).await.expect("executed");
    pair.fail_over();

    let mut refusals = 0;
    for number in 0..20 {
        match call(&engine, &format!("after {number}"), &runs).await {
            Ok(_) => {}
            refused => {
                let (kind, said) = trouble(refused);
                assert_eq!(kind, "unavailable");
                assert!(said.contains("the server refused: READONLY"), "{said}");
                assert_eq!(number, refusals, "refused again after a success");
                refusals += 1;
            }
        }
    }
    assert!(refusals <= 2, "one for each of the lanes: {refusals}");
    assert_eq!(call(&engine, "before", &runs).await.expect("replayed"), result_of("before"));
    assert_eq!(runs.count(), 21 - refusals);
}

/// Case O-20: the renewals of a call that runs go to the new primary, and its completion as well.
#[tokio::test]
async fn an_owner_whose_server_was_demoted_holds_on_and_records() {
    let pair = Pair::start();
    let owner = engine_at(&pair.proxy.url(), SHORT_LEASE);
    let other = engine_at(&pair.replica.url(), SHORT_LEASE);
    warm(&owner).await;
    let runs = Runs::default();
    let conflicts = Cell::new(0);
    let ended = call_around(&owner, "k", &runs, async || {
        pair.fail_over();
        let began = Instant::now();
        while began.elapsed() < SHORT_LEASE * 3 {
            assert_eq!(kind(call(&other, "k", &runs).await), ErrorKind::InFlight);
            conflicts.set(conflicts.get() + 1);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    let outcome = ended.await.expect("executed");
    let seen = outcome.seen().expect("told");
    assert!(seen.is_recorded() && !seen.is_replayed() && !seen.had_vanished());
    assert!(conflicts.get() > 5);
    let again = call_around(&other, "k", &runs, async || {}).await.expect("replayed");
    assert!(again.seen().expect("told").is_replayed());
    assert_eq!(runs.count(), 1);
}

/// Case O-20: never `Executed` without a save.
#[tokio::test]
async fn a_completion_that_a_demoted_server_refuses_reaches_the_new_one() {
    let pair = Pair::start();
    let engine = engine_at(&pair.proxy.url(), LONG_LEASE);
    warm(&engine).await;
    let runs = Runs::default();
    let outcome = call_around(&engine, "k", &runs, async || pair.fail_over()).await.expect("executed");
    assert!(outcome.seen().expect("told").is_recorded());
    let direct = engine_at(&pair.replica.url(), LONG_LEASE);
    let again = call_around(&direct, "k", &runs, async || {}).await.expect("replayed");
    assert!(again.seen().expect("told").is_replayed());
    assert_eq!(runs.count(), 1);
}

#[tokio::test]
async fn a_release_that_a_demoted_server_refuses_reaches_the_new_one() {
    let pair = Pair::start();
    let engine = engine_at(&pair.proxy.url(), LONG_LEASE);
    let direct = engine_at(&pair.replica.url(), LONG_LEASE);
    warm(&engine).await;
    fails_after(&engine, "k", async || pair.fail_over()).await;
    // Long before the lease ends.
    assert_eq!(until_it_runs(&direct, "k").await, (2, false));
}

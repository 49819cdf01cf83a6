//! Everything at once, and what is left of it in the server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use idem::{Engine, Policy};
use rand::{RngExt as _, SeedableRng as _};
use test_support::{RedisServer, Reply};
use tokio::task::JoinSet;

use crate::support::{LEASE, engine_with, keys, pttl, server};
use crate::trouble::eventually;

const RETENTION: Duration = Duration::from_secs(2);

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// One call: of few keys, so that it meets others, and with an end of its own.
async fn call(engine: Engine, number: u64) -> Result<(), Failure> {
    let mut random = rand::rngs::StdRng::seed_from_u64(number);
    let (key, payload) = (random.random_range(0..200), u8::from(random.random_ratio(1, 20)));
    let busy = Duration::from_millis(random.random_range(0..20));
    let call = engine.operation("storm").key(&key).fingerprint(&payload);
    let call = call.run(async move |_| -> Result<u64, Failure> {
        tokio::time::sleep(busy).await;
        match number % 4 {
            0 | 1 => Ok(number),
            2 => Err("failed".into()),
            _ => std::panic::resume_unwind(Box::new("boom")),
        }
    });
    let limit = if random.random_ratio(1, 4) { busy / 2 } else { Duration::from_secs(10) };
    let ended = tokio::time::timeout(limit, call).await?;
    ended.map(drop)
}

/// Whether every key has an end that is not too far. One may be gone between the two looks.
fn swept(server: &RedisServer) -> usize {
    let Reply::Array(all) = server.command(&["KEYS", "*"]).expect("KEYS") else { panic!("no array") };
    let longest = i64::try_from((RETENTION + Duration::from_secs(1)).as_millis()).expect("milliseconds");
    for key in all.iter().filter_map(Reply::text) {
        let life = pttl(server, &key);
        assert!(life == -2 || (0..=longest).contains(&life), "{key}: {life} ms");
    }
    all.len()
}

/// Case O-42.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_storm_of_calls_every_key_ends() {
    let server = Arc::new(server());
    let policy = Policy::new().lease(LEASE).retention(RETENTION);
    let engines = [engine_with(&server, policy), engine_with(&server, policy)];
    let (mut running, mut ends, mut most) = (JoinSet::new(), [0; 2], 0);
    for number in 0..1000 {
        if running.len() >= 50 {
            let ended = running.join_next().await.expect("50 run");
            ends[usize::from(matches!(ended, Ok(Ok(()))))] += 1;
        }
        match number % 100 {
            30 => drop(server.command(&["SCRIPT", "FLUSH"]).expect("SCRIPT FLUSH")),
            60 => drop(server.command(&["CLIENT", "KILL", "TYPE", "normal"]).expect("CLIENT KILL")),
            90 => most = most.max(swept(&server)),
            _ => {}
        }
        running.spawn(call(engines[usize::from(number % 3 == 0)].clone(), number));
    }
    while let Some(ended) = running.join_next().await {
        ends[usize::from(matches!(ended, Ok(Ok(()))))] += 1;
    }
    most = most.max(swept(&server));
    assert!(ends.iter().all(|count| *count > 100) && most > 50, "{ends:?}, {most} keys");
    let ended = Instant::now();
    eventually("no key is left", || keys(&server) == 0).await;
    assert!(ended.elapsed() < RETENTION * 3, "{:?}", ended.elapsed());
}

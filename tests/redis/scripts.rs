//! A server that forgets its scripts, and servers that compare text in their own way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use idem::Error;

use crate::support::{Runs, engine, server};

/// Case O-36.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flushed_script_cache_is_never_noticed() {
    let server = Arc::new(server());
    let engine = engine(&server);
    let stop = Arc::new(AtomicBool::new(false));
    let flusher = std::thread::spawn({
        let (server, stop) = (Arc::clone(&server), Arc::clone(&stop));
        move || {
            while !stop.load(Ordering::Relaxed) {
                server.command(&["SCRIPT", "FLUSH"]).expect("SCRIPT FLUSH");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    });
    for round in 0..250_u32 {
        let key = round.to_string();
        let runs = Runs::default();
        let call = async || {
            let call = engine.operation("flushed").key(&key).fingerprint(&());
            call.run(async |attempt| {
                tokio::time::sleep(Duration::from_millis(u64::from(round % 8))).await;
                match runs.add() {
                    // Every third is released once, so that release and the scripted claim meet the flush as well.
                    1 if round % 3 == 0 => Err(Box::<dyn std::error::Error>::from("again")),
                    _ => Ok(attempt.number()),
                }
            })
            .await
        };
        if round % 3 == 0 {
            assert_eq!(call().await.unwrap_err().to_string(), "again");
        }
        let first = call().await.expect("executed");
        assert_eq!(call().await.expect("replayed"), first);
        assert_eq!(runs.count(), if round % 3 == 0 { 2 } else { 1 });
    }
    stop.store(true, Ordering::Relaxed);
    flusher.join().expect("no panic");
}

#[tokio::test]
async fn a_restarted_server_that_kept_its_data_replays() {
    let server = test_support::RedisServer::builder()
        .option("appendonly", "yes")
        .option("appendfsync", "always")
        .start()
        .expect("a private redis-server");
    let runs = Runs::default();
    let call = async || {
        // A new engine: what a lane does when its server restarts is told elsewhere.
        let call = engine(&server).operation("kept").key("k").fingerprint(&());
        call.run(async |_| Ok::<_, Error>(runs.add())).await
    };
    assert_eq!(call().await.unwrap(), 1);
    server.kill().expect("kill");
    server.restart().expect("restart");
    assert_eq!(call().await.unwrap(), 1);
}

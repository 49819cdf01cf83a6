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

/// Redis compares text in Lua by the server's locale, where it has one. Fences are compared as text.
#[tokio::test]
async fn fences_rise_whatever_the_servers_locale_sorts_first() {
    let locales = tempfile::tempdir().expect("a directory");
    let made = std::process::Command::new("localedef")
        .args(["-i", "en_US", "-f", "UTF-8"])
        .arg(locales.path().join("en_US.UTF-8"))
        .output();
    let made = made.is_ok_and(|made| made.status.success());
    assert!(made || std::env::var_os("IDEM_TESTED_BY_XTASK").is_none(), "localedef needs the package `locales`");
    if !made {
        eprintln!("SKIPPED: localedef cannot make a locale here; `cargo xtask test` sees to it");
        return;
    }
    let server = test_support::RedisServer::builder()
        .env("LOCPATH", locales.path().to_str().expect("UTF-8"))
        .env("LC_ALL", "en_US.UTF-8")
        .start()
        .expect("a private redis-server");
    let sorts = server.command(&["EVAL", "return tostring('a' < 'B')", "0"]).expect("EVAL");
    assert_eq!(sorts.text().as_deref(), Some("true"), "this locale sorts letters before case");

    let engine = engine(&server);
    let now = u64::try_from(std::time::UNIX_EPOCH.elapsed().expect("after 1970").as_micros()).expect("64 bits");
    for ahead in (20..60).map(|bit| now + (1 << bit)) {
        let key = ahead.to_string();
        let released = engine.operation("fenced").key(&key).fingerprint(&());
        released.run(async |_| Err::<(), _>(Box::<dyn std::error::Error>::from("released"))).await.unwrap_err();
        let record = format!("idem:{{fenced::{key}}}");
        let fence = String::from_utf8(idem::Fence::new(ahead).to_text().to_vec()).expect("ASCII");
        server.command(&["SETRANGE", &record, "4", &fence]).expect("SETRANGE");
        let call = engine.operation("fenced").key(&key).fingerprint(&());
        let next = call.run(async |attempt| Ok::<_, Error>(attempt.fence().get())).await.unwrap();
        assert_eq!(next, ahead + 1);
    }
}

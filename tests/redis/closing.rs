//! Processes that end: shut down in order, or with runtimes that die under running calls. Each variant is a process of its
//! own, which must end well, say nothing of a panic, and leave its key free after one lease.

use std::future::Future;
use std::pin::Pin;
use std::process::Stdio;
use std::time::{Duration, Instant};

use idem::{Engine, Error, Policy, RedisStore};
use test_support::{Direction, Proxy, RedisServer};
use tokio::runtime::{Builder, Runtime};

use crate::actors::{job, short};
use crate::support::{LEASE, child, engine_with, server};

const CHILD: &str = "IDEM_TEST_CLOSING";

/// A name, and what the process does.
type Variant = (&'static str, fn(Engine));

const VARIANTS: &[Variant] = &[
    ("a current-thread runtime is dropped under a running body", |engine| {
        let runtime = current();
        runtime.block_on(begun(hanging(&engine)));
    }),
    ("a runtime of many threads is dropped under a spawned call", |engine| {
        let runtime = threads();
        runtime.block_on(spawned(&engine));
    }),
    ("a runtime is shut down in the background", |engine| {
        let runtime = threads();
        runtime.block_on(spawned(&engine));
        runtime.shutdown_background();
    }),
    ("a runtime is shut down within a time", |engine| {
        let runtime = threads();
        runtime.block_on(spawned(&engine));
        runtime.shutdown_timeout(Duration::from_millis(50));
    }),
    ("a running call is dropped without a runtime", |engine| {
        let runtime = current();
        let mut call: Pin<Box<dyn Future<Output = ()>>> = Box::pin(hanging(&engine));
        runtime.block_on(begun(&mut call));
        drop(runtime);
        drop(call);
    }),
    ("a call that has not begun its body is dropped without a runtime", |engine| {
        let runtime = current();
        let mut call: Pin<Box<dyn Future<Output = ()>>> = Box::pin(hanging(&engine));
        runtime.block_on(async { assert!(tokio::time::timeout(Duration::ZERO, &mut call).await.is_err()) });
        drop(runtime);
        drop(call);
    }),
    ("a running call is dropped while its thread unwinds", |engine| {
        let unwound = std::thread::spawn(move || {
            let runtime = threads();
            let mut call: Pin<Box<dyn Future<Output = ()>>> = Box::pin(hanging(&engine));
            runtime.block_on(begun(&mut call));
            // Without a word on stderr, which a panic of ours would have.
            std::panic::resume_unwind(Box::new("unwinding"));
        });
        assert!(unwound.join().is_err());
    }),
    ("the engine goes first", |engine| {
        let runtime = threads();
        runtime.block_on(spawned(&engine));
        drop(engine);
        std::thread::sleep(LEASE / 2);
    }),
    ("a shutdown waits for what finishes", |engine| {
        let runtime = threads();
        runtime.block_on(async {
            let call = job(&engine).run(async |_| {
                tokio::time::sleep(LEASE).await;
                Ok::<u32, Error>(1)
            });
            let call = tokio::spawn(call);
            tokio::time::sleep(LEASE / 2).await;
            assert_eq!(engine.shutdown(LEASE * 10).await, 0);
            assert_eq!(call.await.expect("no panic").expect("it ran"), 1);
        });
    }),
    ("a shutdown leaves what does not finish", |engine| {
        let runtime = threads();
        runtime.block_on(async {
            spawned(&engine).await;
            assert_eq!(engine.shutdown(Duration::from_millis(50)).await, 1);
        });
    }),
    ("an engine is shut down that nobody used", |engine| {
        assert_eq!(current().block_on(engine.shutdown(Duration::from_secs(10))), 0);
    }),
];

fn current() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn threads() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

/// A call whose body never ends.
async fn hanging(engine: &Engine) {
    let body = async |_| std::future::pending::<Result<u32, Error>>().await;
    let _ = job(engine).run(body).await;
}

/// Polls a call until its body runs, and longer than it takes to be renewed.
async fn begun(call: impl Future<Output = ()>) {
    assert!(tokio::time::timeout(LEASE / 2, call).await.is_err());
}

async fn spawned(engine: &Engine) {
    let engine = engine.clone();
    tokio::spawn(async move { hanging(&engine).await });
    tokio::time::sleep(LEASE / 2).await;
}

#[test]
fn child_that_ends() {
    let Ok(task) = std::env::var(CHILD) else { return };
    let (variant, url) = task.split_once('|').expect("a variant and a URL");
    let store = RedisStore::from_url(url).expect("a URL");
    let engine = Engine::builder(store).policy(short()).build().expect("a valid policy");
    let (_, end) = VARIANTS.iter().find(|(name, _)| *name == variant).expect("a variant");
    end(engine);
    println!("ended");
}

/// Runs a variant in a process of its own.
fn ends_well(variant: &str, url: &str) -> Instant {
    let mut child = child("closing::child_that_ends", CHILD, &format!("{variant}|{url}"));
    let child = child.stderr(Stdio::piped()).output().expect("the child starts");
    let (said, complained) = (String::from_utf8_lossy(&child.stdout), String::from_utf8_lossy(&child.stderr));
    assert!(child.status.success() && said.contains("ended"), "{variant}: {}\n{said}\n{complained}", child.status);
    assert!(!complained.contains("panicked"), "{variant}: {complained}");
    Instant::now()
}

/// Calls until it runs or is answered, for a little more than a lease.
async fn is_free_after_a_lease(server: &RedisServer, policy: Policy, variant: &str, ended: Instant) {
    let engine = engine_with(server, policy);
    loop {
        match job(&engine).run(async |_| Ok::<u32, Error>(1)).await {
            Ok(_) => return,
            Err(error) => assert!(ended.elapsed() < LEASE + Duration::from_millis(300), "{variant}: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn however_a_process_ends_its_key_is_free_after_one_lease() {
    for (variant, _) in VARIANTS {
        let server = server();
        let ended = ends_well(variant, &server.url());
        is_free_after_a_lease(&server, short(), variant, ended).await;
    }
}

/// The same without a server that answers: nothing blocks at the end.
#[tokio::test]
async fn without_a_server_a_process_ends_as_well() {
    for (variant, _) in VARIANTS.iter().filter(|(variant, _)| !variant.starts_with("a shutdown")) {
        let server = server();
        let proxy = Proxy::start(server.port()).expect("a proxy");
        proxy.black_hole(Direction::ToServer, true);
        let began = Instant::now();
        ends_well(variant, &proxy.url());
        assert!(began.elapsed() < Duration::from_secs(10), "{variant}: {:?}", began.elapsed());
    }
}

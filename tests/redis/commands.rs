//! How many commands a call sends: each is a round trip that somebody pays for.

use std::time::Duration;

use idem::{Error, ErrorKind};
use test_support::Monitor;

use crate::support::{engine, kind, server};

/// The commands that a call sent, by name.
fn names(monitor: &Monitor) -> Vec<String> {
    monitor.sync().expect("the monitor");
    monitor.take().expect("the monitor").into_iter().filter(|c| !c.is_from_script()).map(|c| c.name()).collect()
}

#[tokio::test]
async fn a_call_sends_what_it_needs_and_no_more() {
    let server = server();
    let engine = engine(&server);
    let operation = |key| engine.operation("count").key(key).fingerprint(&());
    let run = async |key| operation(key).run(async |_| Ok::<_, Error>(1)).await;
    // Each script is sent once as text; from then on the server knows it.
    operation("warm").run(async |_| Err::<(), _>(Failed(None))).await.unwrap_err();
    run("warm").await.unwrap();

    let monitor = Monitor::start(&server).expect("a monitor");
    run("a").await.unwrap();
    assert_eq!(names(&monitor), ["SET", "EVALSHA"], "first call");

    run("a").await.unwrap();
    assert_eq!(names(&monitor), ["SET"], "replay");

    operation("b").run(async |_| Err::<(), _>(Failed(None))).await.unwrap_err();
    assert_eq!(names(&monitor), ["SET", "EVALSHA"], "released");
    run("b").await.unwrap();
    assert_eq!(names(&monitor), ["SET", "EVALSHA", "EVALSHA"], "retry after a release");

    let (started, running) = tokio::sync::oneshot::channel();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let first = operation("c").run(async |_| {
        started.send(()).unwrap();
        ended.await.unwrap();
        Ok::<_, Error>(1)
    });
    let meanwhile = async {
        running.await.unwrap();
        let _ = names(&monitor);
        assert_eq!(kind(run("c").await), ErrorKind::InFlight);
        assert_eq!(names(&monitor), ["SET", "EVALSHA"], "conflict");
        // Scenario F25: that the arguments are others is told by the record alone, while it is in flight as well.
        let other = engine.operation("count").key("c").fingerprint(&1);
        assert_eq!(kind(other.run(async |_| Ok::<_, Error>(1)).await), ErrorKind::Mismatch);
        assert_eq!(names(&monitor), ["SET"], "mismatch");
        end.send(()).unwrap();
    };
    let (first, ()) = tokio::join!(first, meanwhile);
    first.unwrap();
}

#[tokio::test]
async fn an_idle_engine_sends_nothing() {
    let server = server();
    let engine = engine(&server);
    let run = || engine.operation("count").key("a").fingerprint(&()).run(async |_| Ok::<_, Error>(1));
    run().await.unwrap();
    let monitor = Monitor::start(&server).expect("a monitor");
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(names(&monitor), [""; 0]);
    run().await.unwrap();
    assert_eq!(names(&monitor), ["SET"]);
}

#[derive(Debug, thiserror::Error)]
#[error("failed")]
struct Failed(Option<Error>);

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self(Some(error))
    }
}

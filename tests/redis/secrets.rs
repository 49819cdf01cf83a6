//! What is told of a store in trouble, and what never is.

use std::error::Error as StdError;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use idem::{Engine, Error, Policy, RedisStore};
use metrics_util::debugging::DebuggingRecorder;
use test_support::{Direction, Proxy, RedisServer};
use tracing_subscriber::fmt::MakeWriter;

use crate::support::{LEASE, server};

/// None of these may be told of: they begin alike so that one look finds each.
const MARKS: [&str; 6] = ["mark-user", "mark-password", "mark-tenant", "mark-key", "mark-argument", "mark-result"];

/// What was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic under it").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

fn url(password: &str, port: u16) -> String {
    format!("redis://{}:{password}@127.0.0.1:{port}", MARKS[0])
}

async fn call(url: &str) -> Result<String, Error> {
    let store = RedisStore::from_url(url).expect("a URL");
    let bound = Duration::from_millis(200);
    let engine = Engine::builder(store).policy(Policy::new().lease(LEASE)).store_bound(bound).build().expect("valid");
    let call = engine.operation("job").key(MARKS[3]).scope(MARKS[2]).fingerprint(MARKS[4]);
    call.run(async |_| Ok(MARKS[5].to_owned())).await
}

/// The error in all its forms, with all that is behind it.
fn told(error: &Error) -> String {
    let chain = std::iter::successors(Some(error as &(dyn StdError + 'static)), |&error| error.source());
    chain.map(|error| format!("{error} {error:#} {error:?} {error:#?}\n")).collect::<Vec<_>>().concat()
}

#[tokio::test]
async fn no_error_and_no_log_line_tells_a_password_a_key_or_a_result() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).with_max_level(tracing::Level::INFO).finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let _recording = metrics::set_default_local_recorder(&recorder);

    let (server, gone) = (server(), server_that_is_gone());
    let password = format!(">{}", MARKS[1]);
    server.command(&["ACL", "SETUSER", MARKS[0], "on", &password, "~*", "+@all"]).expect("an answer");
    let silent = Proxy::start(server.port()).expect("a proxy");
    silent.black_hole(Direction::ToClient, true);
    call(&url(MARKS[1], server.port())).await.expect("it runs");
    let mut all = String::new();
    for url in [url("mark-password-other", server.port()), url(MARKS[1], gone), url(MARKS[1], silent.port())] {
        all += &told(&call(&url).await.expect_err("no store"));
    }
    let foreign = [MARKS[2], MARKS[3]].join(":");
    server.command(&["SET", &format!("idem:{{job:{foreign}}}"), "mark-result"]).expect("an answer");
    all += &told(&call(&url(MARKS[1], server.port())).await.expect_err("no record"));

    all += std::str::from_utf8(&log.0.lock().expect("no panic under it")).expect("text");
    all.extend(snapshotter.snapshot().into_vec().into_iter().map(|(key, ..)| format!("{key:?} ")));
    assert!(all.contains("idem_store_errors_total"), "nothing was told at all");
    for mark in MARKS {
        assert!(!all.contains(mark), "{mark} in {all}");
    }
}

/// A port where nobody listens.
fn server_that_is_gone() -> u16 {
    let server = RedisServer::start().expect("a private redis-server");
    server.kill().expect("a kill");
    server.port()
}

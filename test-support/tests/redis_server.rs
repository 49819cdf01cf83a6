//! A private server does what its methods say, on a real `redis-server`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use test_support::{Error, RedisServer, Reply, expect_within, redis_server, wait_until};

const AMPLE: Duration = Duration::from_secs(20);

fn ok() -> Reply {
    Reply::Simple("OK".into())
}

fn value(text: &str) -> Reply {
    Reply::Bulk(Some(text.into()))
}

fn real() -> PathBuf {
    redis_server::find().expect("these tests need a redis-server")
}

/// By the system's own list, not by what the crate under test believes.
fn runs(pid: u32) -> bool {
    Command::new("kill")
        .args(["-0", &pid.to_string()])
        .stderr(Stdio::null())
        .status()
        .expect("`kill` is a program")
        .success()
}

#[test]
fn a_server_answers_and_leaves_nothing_behind() {
    let server = RedisServer::start().unwrap();
    let (pid, dir) = (server.pid().unwrap(), server.dir().to_owned());
    assert_eq!(server.url(), format!("redis://127.0.0.1:{}", server.port()));
    assert_eq!(server.command(&["SET", "k", "v"]).unwrap(), ok());
    assert_eq!(server.command(&["GET", "k"]).unwrap(), value("v"));
    assert!(server.command(&["GET", "none"]).unwrap().is_nil());
    assert!(runs(pid) && dir.exists());
    drop(server);
    assert!(!runs(pid) && !dir.exists());
}

#[test]
fn a_panicking_test_leaves_nothing_behind() {
    let server = RedisServer::start().unwrap();
    let (pid, dir) = (server.pid().unwrap(), server.dir().to_owned());
    std::thread::spawn(move || {
        let _server = server;
        panic!("a test fails");
    })
    .join()
    .unwrap_err();
    assert!(!runs(pid) && !dir.exists());
}

#[test]
fn options_reach_the_server() {
    let server =
        RedisServer::builder().args(["--maxmemory", "1mb"]).option("enable-debug-command", "local").start().unwrap();
    let reply = server.command(&["CONFIG", "GET", "maxmemory"]).unwrap();
    assert_eq!(reply, Reply::Array(vec![value("maxmemory"), value("1048576")]));
    assert_eq!(server.command(&["DEBUG", "SLEEP", "0"]).unwrap(), ok());
}

#[test]
fn the_environment_reaches_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let seen = dir.path().join("seen");
    let script = format!("#!/bin/sh\necho $LC_ALL >{}\nexec {} \"$@\"\n", seen.display(), real().display());
    let _server =
        RedisServer::builder().program(executable(dir.path(), &script)).env("LC_ALL", "C.UTF-8").start().unwrap();
    assert_eq!(std::fs::read_to_string(seen).unwrap(), "C.UTF-8\n");
}

#[test]
fn a_restart_keeps_the_data_the_port_and_the_directory() {
    let server = RedisServer::start().unwrap();
    let (url, pid) = (server.url(), server.pid());
    server.command(&["SET", "k", "v"]).unwrap();
    server.restart().unwrap();
    assert_eq!(server.command(&["GET", "k"]).unwrap(), value("v"));
    assert_eq!(server.url(), url);
    assert_ne!(server.pid(), pid);
}

#[test]
fn after_a_kill_only_what_is_on_disk_is_there() {
    let durable = RedisServer::builder().args(["--appendonly", "yes", "--appendfsync", "always"]).start().unwrap();
    let forgetful = RedisServer::start().unwrap();
    for server in [&durable, &forgetful] {
        server.command(&["SET", "k", "v"]).unwrap();
        server.kill().unwrap();
        assert_eq!(server.pid(), None);
        assert!(matches!(server.command(&["PING"]), Err(Error::Io(_))));
        assert!(matches!(server.kill(), Err(Error::NotRunning)));
        server.restart().unwrap();
    }
    assert_eq!(durable.command(&["GET", "k"]).unwrap(), value("v"));
    assert!(forgetful.command(&["GET", "k"]).unwrap().is_nil());
}

#[test]
fn a_stop_lets_the_server_say_goodbye() {
    let server = RedisServer::start().unwrap();
    let pid = server.pid().unwrap();
    server.freeze().unwrap();
    server.stop().unwrap();
    assert!(!runs(pid));
    assert!(server.log().unwrap().contains("bye bye"));
    server.restart().unwrap();
    assert_eq!(server.command(&["DBSIZE"]).unwrap().int(), Some(0));
}

#[test]
fn a_frozen_server_answers_once_it_is_thawed() {
    let server = RedisServer::start().unwrap();
    let mut client = server.client().unwrap();
    server.freeze().unwrap();
    client.send(&["INCR", "n"]).unwrap();
    let answered = std::thread::spawn(move || client.reply().unwrap());
    assert!(!wait_until(Duration::from_millis(100), || answered.is_finished()));
    server.thaw().unwrap();
    assert_eq!(answered.join().unwrap(), Reply::Int(1));
}

#[test]
fn a_frozen_server_can_be_killed_restarted_and_dropped() {
    let server = RedisServer::start().unwrap();
    server.freeze().unwrap();
    server.kill().unwrap();
    server.restart().unwrap();
    server.freeze().unwrap();
    server.restart().unwrap();
    server.freeze().unwrap();
    let pid = server.pid().unwrap();
    drop(server);
    assert!(!runs(pid));
}

/// At this delay the data would take half a minute, so that even a slow machine meets the server while it loads; then the delay is taken away.
#[test]
fn a_loading_server_can_be_met() {
    let server = RedisServer::builder()
        .args(["--rdbcompression", "no", "--key-load-delay", "100000"])
        .args(["--loading-process-events-interval-bytes", "1024"])
        .start()
        .unwrap();
    let filler = "x".repeat(2048);
    let mut client = server.client().unwrap();
    for number in 0..300 {
        let key = format!("k{number}");
        client.call(&["SET", key.as_str(), filler.as_str()]).unwrap();
    }
    server.restart_while_loading().unwrap();
    let met = server.command(&["GET", "k1"]).unwrap();
    assert!(matches!(&met, Reply::Error(text) if text.starts_with("LOADING")), "{met:?}");
    let faster = ["CONFIG", "SET", "key-load-delay", "0"];
    assert_eq!(server.command(&faster).unwrap(), ok());
    expect_within(AMPLE, || server.command(&["DBSIZE"]).unwrap().int() == Some(300));
}

#[test]
fn a_connection_keeps_its_state() {
    let server = RedisServer::start().unwrap();
    let mut client = server.client().unwrap();
    assert_eq!(client.call(&["SELECT", "3"]).unwrap(), ok());
    assert_eq!(client.call(&["SET", "k", "v"]).unwrap(), ok());
    assert!(server.command(&["GET", "k"]).unwrap().is_nil());
    assert_eq!(client.call(&["GET", "k"]).unwrap().text().unwrap(), "v");
}

#[test]
fn an_unknown_option_is_told_at_once_with_the_servers_words() {
    let start = Instant::now();
    let failure = RedisServer::builder().option("no-such-directive", "1").start().unwrap_err();
    assert!(matches!(failure, Error::Exited { .. }), "{failure:?}");
    assert!(failure.to_string().contains("no-such-directive"));
    assert!(start.elapsed() < AMPLE);
}

#[test]
fn a_missing_program_is_named() {
    let failure = RedisServer::builder().program("/nowhere/redis-server").start().unwrap_err();
    assert!(failure.to_string().contains("/nowhere/redis-server"));
}

#[test]
fn a_program_that_never_answers_is_given_up_and_ended() {
    let dir = tempfile::tempdir().unwrap();
    let pid_file = dir.path().join("pid");
    let script = format!("#!/bin/sh\necho $$ >{}\nexec sleep 600\n", pid_file.display());
    let failure = RedisServer::builder()
        .program(executable(dir.path(), &script))
        .start_limit(Duration::from_secs(2))
        .start()
        .unwrap_err();
    assert!(matches!(failure, Error::Timeout { .. }), "{failure:?}");
    let pid = std::fs::read_to_string(pid_file).unwrap();
    assert!(!runs(pid.trim().parse().unwrap()));
}

/// Another process wins the port: the program under test tells so twice before it starts the real server.
#[test]
fn a_lost_port_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!(
        "#!/bin/sh\necho x >>{0}/tries\n[ $(wc -l <{0}/tries) -gt 2 ] && exec {1} \"$@\"\n\
         echo 'bind: Address already in use'; exit 1\n",
        dir.path().display(),
        real().display(),
    );
    let server = RedisServer::builder().program(executable(dir.path(), &script)).start().unwrap();
    assert_eq!(server.command(&["PING"]).unwrap(), Reply::Simple("PONG".into()));
}

/// A port held by a stranger who answers as Redis does must not pass for the own server.
#[test]
fn a_stranger_on_the_port_is_not_taken_for_the_server() {
    let first = RedisServer::start().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let script = format!("#!/bin/sh\nexec {} \"$@\"\n", real().display());
    let second = RedisServer::builder()
        .program(executable(dir.path(), &script))
        .option("port", &first.port().to_string())
        .start();
    assert!(matches!(second, Err(Error::PortTaken(_))), "{second:?}");
}

#[test]
fn many_servers_start_at_once() {
    let starts: Vec<_> = (0..8).map(|_| std::thread::spawn(|| RedisServer::start().unwrap())).collect();
    let servers: Vec<_> = starts.into_iter().map(|start| start.join().unwrap()).collect();
    let mut ports: Vec<_> = servers.iter().map(RedisServer::port).collect();
    ports.sort_unstable();
    ports.dedup();
    assert_eq!(ports.len(), 8);
}

/// Written by a child process: had this one the file open, a server that another test starts just then would inherit it, and the system runs no
/// program that somebody may still write.
fn executable(dir: &Path, script: &str) -> PathBuf {
    let path = dir.join("program");
    let written = Command::new("sh")
        .args(["-c", r#"printf '%s' "$1" >"$2" && chmod +x "$2""#, "sh", script])
        .arg(&path)
        .status()
        .expect("`sh` is a program");
    assert!(written.success());
    path
}

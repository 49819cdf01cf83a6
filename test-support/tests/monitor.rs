//! A monitor hears every command once, in order, and nothing of its own.

use test_support::{Command, Error, Monitor, RedisServer, Reply};

const SCRIPT: &str = "redis.call('SET', KEYS[1], ARGV[1]); return redis.call('GET', KEYS[1])";

fn names(commands: &[Command]) -> Vec<String> {
    commands.iter().map(Command::name).collect()
}

#[test]
fn what_scripts_run_is_told_apart_from_what_clients_send() {
    let server = RedisServer::start().unwrap();
    let monitor = Monitor::start(&server).unwrap();
    server.command(&["EVAL", SCRIPT, "1", "k", "v"]).unwrap();
    server.command(&["get", "k"]).unwrap();

    assert_eq!(names(&monitor.client_commands().unwrap()), ["EVAL", "GET"]);
    let all = monitor.all_commands().unwrap();
    assert_eq!(names(&all), ["EVAL", "SET", "GET", "GET"]);
    let from_script: Vec<_> = all.iter().map(Command::is_from_script).collect();
    assert_eq!(from_script, [false, true, true, false]);
}

#[test]
fn taking_forgets() {
    let server = RedisServer::start().unwrap();
    server.command(&["SET", "before", "1"]).unwrap();
    let monitor = Monitor::start(&server).unwrap();
    assert_eq!(monitor.take().unwrap(), []);
    server.command(&["SET", "k", "1"]).unwrap();
    assert_eq!(names(&monitor.client_commands().unwrap()), ["SET"]);
    assert_eq!(names(&monitor.take().unwrap()), ["SET"]);
    assert_eq!(monitor.take().unwrap(), []);
}

#[test]
fn words_come_back_byte_for_byte() {
    let server = RedisServer::start().unwrap();
    let monitor = Monitor::start(&server).unwrap();
    let every_byte: Vec<u8> = (0..=u8::MAX).collect();
    let sent: [&[u8]; 4] = [b"SET", b"a \"quoted\" \\ key", &every_byte, b"NX"];
    server.command(&sent).unwrap();
    server.command(&["SET", "", ""]).unwrap();

    let heard = monitor.take().unwrap();
    assert_eq!(heard[0].words(), sent);
    assert_eq!(heard[1].words(), [&b"SET"[..], b"", b""]);
    assert!(heard[0].source().starts_with("127.0.0.1:"));
}

#[test]
fn every_command_of_many_clients_is_heard() {
    let server = RedisServer::start().unwrap();
    let monitor = Monitor::start(&server).unwrap();
    let second = Monitor::start(&server).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = server.client().unwrap();
                for _ in 0..250 {
                    client.call(&["INCR", "n"]).unwrap();
                }
            });
            scope.spawn(|| monitor.sync().unwrap());
        }
    });
    assert_eq!(server.command(&["GET", "n"]).unwrap().text().unwrap(), "1000");
    for monitor in [&monitor, &second] {
        let heard = monitor.take().unwrap();
        assert_eq!(heard.iter().filter(|c| c.name() == "INCR").count(), 1000);
        let other: Vec<_> = heard.iter().filter(|c| c.name() != "INCR").collect();
        assert_eq!(other.len(), 1, "{other:?}");
    }
}

#[test]
fn a_monitor_whose_server_died_says_so() {
    let server = RedisServer::start().unwrap();
    let monitor = Monitor::start(&server).unwrap();
    server.kill().unwrap();
    server.restart().unwrap();
    assert_eq!(server.command(&["SET", "k", "v"]).unwrap(), Reply::Simple("OK".into()));
    assert!(matches!(monitor.take(), Err(Error::MonitorEnded(_))));
}

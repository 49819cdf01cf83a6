//! The one case in which no `Drop` runs: the process that owns the server is killed. It must take the server and its directory along.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use test_support::{Client, RedisServer, expect_within};

/// Set for the copy of this test that plays the owner.
const OWNER: &str = "IDEM_TEST_OWNER";

#[test]
fn a_killed_owner_takes_its_server_along() {
    if std::env::var_os(OWNER).is_some() {
        let server = RedisServer::start().unwrap();
        println!("owns {} {}", server.port(), server.dir().display());
        loop {
            std::thread::park();
        }
    }
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_killed_owner_takes_its_server_along", "--nocapture"])
        .env(OWNER, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let told = BufReader::new(owner.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap)
        .find_map(|line| line.split_once("owns ").map(|(_, told)| told.to_owned()))
        .unwrap();
    let (port, dir) = told.split_once(' ').unwrap();
    let (port, dir) = (port.parse().unwrap(), PathBuf::from(dir));
    Client::connect(port).unwrap().call(&["PING"]).unwrap();
    assert!(dir.exists());

    owner.kill().unwrap();
    owner.wait().unwrap();
    expect_within(Duration::from_secs(20), || Client::connect(port).is_err() && !dir.exists());
}

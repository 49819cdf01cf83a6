//! A proxy carries everything faithfully until it is told to fail, and then fails as told.

use std::thread;
use std::time::{Duration, Instant};

use test_support::Direction::{ToClient, ToServer};
use test_support::{Client, Error, Proxy, RedisServer, Reply, expect_within};

const LIMIT: Duration = Duration::from_secs(20);
const DELAY: Duration = Duration::from_millis(200);

fn start() -> (RedisServer, Proxy) {
    let server = RedisServer::start().expect("a private redis-server");
    let proxy = Proxy::start(server.port()).expect("a proxy");
    (server, proxy)
}

/// A client whose connection is known to the proxy.
fn client(proxy: &Proxy) -> Client {
    let mut client = Client::connect(proxy.port()).expect("a connection");
    assert_eq!(ping(&mut client).expect("a reply"), Reply::Simple("PONG".into()));
    client
}

fn ping(client: &mut Client) -> Result<Reply, Error> {
    client.call(&["PING"])
}

fn get(server: &RedisServer, key: &str) -> Option<String> {
    server.command(&["GET", key]).expect("a reply").text()
}

#[test]
fn without_a_fault_everything_passes() {
    let (server, proxy) = start();
    assert_eq!(proxy.url(), format!("redis://127.0.0.1:{}", proxy.port()));
    let large = vec![b'x'; 3 << 20];
    thread::scope(|scope| {
        for key in ["a", "b", "c"] {
            let (large, mut client) = (&large, client(&proxy));
            scope.spawn(move || {
                client.call(&[b"SET", key.as_bytes(), large]).unwrap();
                assert_eq!(client.call(&["GET", key]).unwrap(), Reply::Bulk(Some(large.clone())));
            });
        }
    });
    assert_eq!(server.command(&["STRLEN", "c"]).unwrap().int(), Some(3 << 20));
    // Both ends see the end of the other.
    expect_within(LIMIT, || proxy.connections().open == 0);
    assert_eq!(proxy.connections().accepted, 3);
    assert_eq!((proxy.swallowed(ToServer), proxy.swallowed(ToClient)), (0, 0));
}

#[test]
fn a_swallowed_reply_never_comes() {
    let (server, proxy) = start();
    let mut client = client(&proxy);
    proxy.black_hole(ToClient, true);
    client.send(&["SET", "k", "v"]).unwrap();
    proxy.expect_swallowed(ToClient, 5, LIMIT);
    assert_eq!(get(&server, "k").unwrap(), "v");
    proxy.black_hole(ToClient, false);
    assert_eq!(client.call(&["GET", "k"]).unwrap().text().unwrap(), "v");
    assert_eq!(proxy.swallowed(ToClient), 5);
}

#[test]
fn a_swallowed_request_never_arrives() {
    let (server, proxy) = start();
    let mut client = client(&proxy);
    proxy.black_hole(ToServer, true);
    client.send(&["SET", "k", "v"]).unwrap();
    proxy.expect_swallowed(ToServer, 27, LIMIT);
    proxy.black_hole(ToServer, false);
    assert_eq!(client.call(&["GET", "k"]).unwrap(), Reply::Bulk(None));
    assert_eq!(get(&server, "k"), None);
}

#[test]
fn held_requests_arrive_late_and_in_order_even_after_their_sender_is_gone() {
    let (server, proxy) = start();
    let mut client = client(&proxy);
    proxy.hold(ToServer, true);
    for value in ["1", "2", "3"] {
        client.send(&["APPEND", "k", value]).unwrap();
    }
    proxy.expect_held(ToServer, 30 * 3, LIMIT);
    assert_eq!((proxy.held(ToServer), proxy.held(ToClient)), (90, 0));
    drop(client);
    assert_eq!(get(&server, "k"), None);
    proxy.hold(ToServer, false);
    expect_within(LIMIT, || get(&server, "k").as_deref() == Some("123"));
    expect_within(LIMIT, || proxy.connections().open == 0);
    assert_eq!(proxy.held(ToServer), 0);
}

#[test]
fn held_replies_arrive_late() {
    let (server, proxy) = start();
    proxy.hold(ToClient, true);
    let mut client = Client::connect(proxy.port()).unwrap();
    client.send(&["INCR", "n"]).unwrap();
    client.send(&["INCR", "n"]).unwrap();
    proxy.expect_held(ToClient, 8, LIMIT);
    assert_eq!(get(&server, "n").unwrap(), "2");
    proxy.hold(ToClient, false);
    assert_eq!((client.reply().unwrap(), client.reply().unwrap()), (Reply::Int(1), Reply::Int(2)));
}

#[test]
fn what_is_held_can_still_be_thrown_away() {
    let (server, proxy) = start();
    let mut client = client(&proxy);
    proxy.hold(ToServer, true);
    client.send(&["SET", "k", "v"]).unwrap();
    proxy.expect_held(ToServer, 27, LIMIT);
    proxy.black_hole(ToServer, true);
    proxy.hold(ToServer, false);
    proxy.expect_swallowed(ToServer, 27, LIMIT);
    proxy.black_hole(ToServer, false);
    ping(&mut client).unwrap();
    assert_eq!(get(&server, "k"), None);
}

#[test]
fn delays_of_both_directions_count_and_pipelined_ones_do_not_add_up() {
    let (_server, proxy) = start();
    let mut client = client(&proxy);
    proxy.delay(ToServer, DELAY);
    proxy.delay(ToClient, DELAY);
    let start = Instant::now();
    for _ in 0..50 {
        client.send(&["INCR", "n"]).unwrap();
        // Mostly in chunks of their own, then.
        thread::sleep(Duration::from_millis(1));
    }
    let replies: Vec<_> = (0..50).map(|_| client.reply().unwrap().int().unwrap()).collect();
    let took = start.elapsed();
    assert!(replies.into_iter().eq(1..=50));
    assert!(took >= DELAY * 2, "{took:?}");
    assert!(took < DELAY * 40, "{took:?}");
}

#[test]
fn a_delay_taken_back_lets_go_of_what_waits() {
    let (_server, proxy) = start();
    let mut client = client(&proxy);
    proxy.delay(ToServer, LIMIT * 100);
    client.send(&["PING"]).unwrap();
    proxy.expect_held(ToServer, 14, LIMIT);
    proxy.delay(ToServer, Duration::ZERO);
    assert_eq!(client.reply().unwrap(), Reply::Simple("PONG".into()));
}

#[test]
fn a_cut_resets_what_is_open_and_nothing_else() {
    let (server, proxy) = start();
    let (mut first, mut second) = (client(&proxy), client(&proxy));
    proxy.hold(ToServer, true);
    first.send(&["SET", "k", "v"]).unwrap();
    proxy.expect_held(ToServer, 27, LIMIT);
    proxy.cut();
    assert_eq!(proxy.connections().open, 0);
    proxy.hold(ToServer, false);
    for client in [&mut first, &mut second] {
        let Err(Error::Io(error)) = client.reply() else { panic!("no error") };
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    }
    client(&proxy);
    assert_eq!(get(&server, "k"), None);
    assert_eq!(proxy.connections().accepted, 3);
}

#[test]
fn a_cut_reaches_those_who_do_not_read() {
    let (server, proxy) = start();
    server.command(&[b"SET", b"k".as_slice(), &vec![b'x'; 16 << 20]]).unwrap();
    let mut client = client(&proxy);
    for _ in 0..4 {
        client.send(&["GET", "k"]).unwrap();
    }
    // More than the sockets' buffers take, so a thread of the proxy is writing now.
    proxy.expect_held(ToClient, 1 << 20, LIMIT);
    proxy.cut();
    assert_eq!(proxy.connections().open, 0);
}

#[test]
fn refused_connections_close_at_once_and_open_ones_go_on() {
    let (_server, proxy) = start();
    let mut open = client(&proxy);
    proxy.refuse(true);
    let refused = Client::connect(proxy.port()).and_then(|mut client| ping(&mut client));
    assert!(matches!(refused, Err(Error::Io(_))), "{refused:?}");
    ping(&mut open).unwrap();
    assert_eq!(proxy.connections().refused, 1);
    proxy.refuse(false);
    client(&proxy);
}

#[test]
fn retargeting_moves_new_connections_only() {
    let (first, proxy) = start();
    let second = RedisServer::start().unwrap();
    let mut old = client(&proxy);
    proxy.retarget(second.port());
    let mut new = client(&proxy);
    old.call(&["SET", "k", "old"]).unwrap();
    new.call(&["SET", "k", "new"]).unwrap();
    assert_eq!((get(&first, "k").unwrap(), get(&second, "k").unwrap()), ("old".into(), "new".into()));
}

#[test]
fn the_end_of_the_server_passes_and_the_next_one_is_found() {
    let (server, proxy) = start();
    let mut client_before = client(&proxy);
    server.kill().unwrap();
    assert!(client_before.reply().is_err());
    let meanwhile = Client::connect(proxy.port()).and_then(|mut client| ping(&mut client));
    assert!(meanwhile.is_err());
    server.restart().unwrap();
    client(&proxy);
}

#[test]
fn a_black_hole_keeps_the_end_back_as_well() {
    let (server, proxy) = start();
    let mut client = client(&proxy);
    client.call(&["CLIENT", "SETNAME", "carried"]).unwrap();
    let is_connected = || server.command(&["CLIENT", "LIST"]).unwrap().text().unwrap().contains("name=carried");
    proxy.black_hole(ToServer, true);
    drop(client);
    assert!(is_connected());
    proxy.black_hole(ToServer, false);
    expect_within(LIMIT, || !is_connected());
}

#[test]
fn dropping_ends_everything_at_once() {
    let (_server, proxy) = start();
    let mut clients: Vec<_> = (0..8).map(|_| client(&proxy)).collect();
    proxy.hold(ToServer, true);
    proxy.delay(ToClient, LIMIT * 100);
    for client in &mut clients {
        client.send(&["PING"]).unwrap();
    }
    let start = Instant::now();
    drop(proxy);
    assert!(start.elapsed() < Duration::from_secs(5));
    for client in &mut clients {
        assert!(client.reply().is_err());
    }
}

//! The rights of a user, as docs/operating-redis.md lists them.

use idem_core::conformance;
use idem_redis::RedisStore;
use test_support::{RedisServer, Reply};

const DOCUMENT: &str = include_str!("../../docs/operating-redis.md");

#[tokio::test]
async fn the_documented_rights_are_enough() {
    let server = RedisServer::start().expect("a private redis-server");
    let rights = DOCUMENT.lines().find(|line| line.starts_with("ACL SETUSER")).expect("the user that is documented");
    let of_a_person = ["+getrange", "+exists", "+scan"];
    assert!(of_a_person.iter().all(|right| DOCUMENT.contains(right)));
    let words: Vec<_> = rights.split(' ').chain(of_a_person).collect();
    assert_eq!(server.command(&words).expect("ACL"), Reply::Simple("OK".into()));
    let url = server.url().replace("redis://", "redis://app:password@");
    conformance::all(&RedisStore::from_url(&url).expect("a URL")).await;
}

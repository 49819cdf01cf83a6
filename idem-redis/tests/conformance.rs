//! The suite of `idem-core`, on a real server.

use idem_core::conformance;
use idem_redis::RedisStore;
use test_support::RedisServer;

#[tokio::test]
async fn a_redis_store_keeps_every_promise_of_a_store() {
    let server = RedisServer::start().expect("a private redis-server");
    conformance::all(&RedisStore::from_url(&server.url()).expect("a URL")).await;
}

//! What comes back is what was returned, down to the emptiest value and the last digit; or a repeat is told that it was
//! not kept. For every codec that is built in.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use idem::{Codec, Engine, Error, ErrorKind, Policy, RedisStore};
use serde::de::{DeserializeOwned, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use test_support::RedisServer;

use crate::support::{Runs, kind, pool, server, value};

/// All that this build knows.
pub(crate) const CODECS: &[Codec] = &[
    Codec::Json,
    #[cfg(feature = "messagepack")]
    Codec::MessagePack,
];

pub(crate) fn engine_in(codec: Codec, server: &RedisServer) -> Engine {
    Engine::builder(RedisStore::new(pool(server, 1))).codec(codec).build().expect("the default policy")
}

/// Executed by one engine, replayed by another; gives the record.
async fn comes_back<T>(server: &RedisServer, codec: Codec, key: &str, result: T) -> Vec<u8>
where
    T: Debug + Clone + PartialEq + Serialize + DeserializeOwned,
{
    let runs = Runs::default();
    for _ in 0..2 {
        let engine = engine_in(codec, server);
        let call = engine.operation(format!("{codec:?}")).key(key).fingerprint(&());
        let given = call.run(async |_| {
            runs.add();
            Ok::<_, Error>(result.clone())
        });
        assert_eq!(given.await.expect("given"), result, "{codec:?}: {key}");
    }
    assert_eq!(runs.count(), 1, "{codec:?}: {key}");
    value(server, &format!("idem:{{{codec:?}::{key}}}")).expect("a record")
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Unit;

/// Case O-31.
#[tokio::test]
async fn empty_results_are_replayed() {
    let server = server();
    for &codec in CODECS {
        comes_back(&server, codec, "unit", ()).await;
        comes_back(&server, codec, "none", None::<u8>).await;
        comes_back(&server, codec, "false", false).await;
        comes_back(&server, codec, "zero", 0_u64).await;
        comes_back(&server, codec, "no-text", String::new()).await;
        comes_back(&server, codec, "no-elements", Vec::<u8>::new()).await;
        comes_back(&server, codec, "no-entries", BTreeMap::<String, u8>::new()).await;
        comes_back(&server, codec, "no-bytes", Blob(vec![])).await;
        comes_back(&server, codec, "unit-struct", Unit).await;
        comes_back(&server, codec, "null", Value::Null).await;
    }
}

/// Bytes that are written as such where the codec has them.
#[derive(Clone, PartialEq)]
struct Blob(Vec<u8>);

/// Case O-33. The payload of JSON is given where its text matters.
#[tokio::test]
async fn results_come_back_to_the_last_digit_and_byte() {
    const ID: u64 = 130_775_545_883_395_173;
    let server = server();
    let texts = ["\0 \u{1f} \u{7f} \" \\ / \\u0000 \\ud800", "\u{2028} ß 🦀 \u{10ffff}"].map(str::to_owned);
    for &codec in CODECS {
        let readable = |record: Vec<u8>, json: &str| {
            if codec == Codec::Json {
                assert_eq!(String::from_utf8_lossy(&record[40..]), json);
            }
        };
        readable(comes_back(&server, codec, "u64", u64::MAX).await, "18446744073709551615");
        readable(comes_back(&server, codec, "i64", i64::MIN).await, "-9223372036854775808");
        readable(comes_back(&server, codec, "id", ID).await, "130775545883395173");
        readable(comes_back(&server, codec, "value", json!({ "id": ID })).await, r#"{"id":130775545883395173}"#);
        comes_back(&server, codec, "128", (u128::MAX, i128::MIN)).await;
        readable(comes_back(&server, codec, "list", json!([])).await, "[]");
        readable(comes_back(&server, codec, "map", json!({})).await, "{}");
        comes_back(&server, codec, "lists", (Vec::<u8>::new(), json!([[], {}, [{}]]))).await;
        readable(comes_back(&server, codec, "small", 1e-7).await, "1e-7");
        comes_back(&server, codec, "floats", (f64::MAX, f64::MIN_POSITIVE, 5e-324, 0.1 + 0.2, 0.1_f32)).await;
        comes_back(&server, codec, "bytes", Blob((0..=255).collect())).await;
        comes_back(&server, codec, "numbers", (0..=255).collect::<Vec<u8>>()).await;
        comes_back(&server, codec, "texts", texts.clone()).await;
    }
}

/// Case O-33, its blob.
#[tokio::test]
async fn a_result_of_megabytes_comes_back_where_the_limit_is_raised() {
    let server = server();
    let patterned = |len: usize| (0..=255).cycle().take(len).collect::<Vec<u8>>();
    let large = (patterned(1 << 20), "five megabytes of text\n".repeat(5 * 1024 * 1024 / 23));
    for &codec in CODECS {
        let engine = Engine::builder(RedisStore::new(pool(&server, 1)))
            .codec(codec)
            .policy(Policy::new().max_result(16 << 20))
            .store_bound(Duration::from_secs(20))
            .build()
            .unwrap();
        let runs = Runs::default();
        for _ in 0..2 {
            let call = engine.operation("large").key(codec_name(codec)).fingerprint(&());
            let given = call.run(async |_| {
                runs.add();
                Ok::<_, Error>((Blob(large.0.clone()), large.1.clone()))
            });
            let (blob, text) = given.await.expect("given");
            assert!(blob.0 == large.0 && text == large.1, "{codec:?}");
        }
        assert_eq!(runs.count(), 1);
    }
}

fn codec_name(codec: Codec) -> &'static str {
    match codec {
        Codec::Json => "json",
        _ => "messagepack",
    }
}

/// The body runs once, its caller gets the value, and every repeat is told that it was not kept.
async fn is_not_kept<T>(codec: Codec, server: &RedisServer, key: &str, policy: Policy, result: T)
where
    T: Debug + Clone + PartialEq + Serialize + DeserializeOwned,
{
    let engine = engine_in(codec, server);
    let runs = Runs::default();
    let call = async || {
        let call = engine.operation(format!("{codec:?}")).policy(policy).key(key).fingerprint(&());
        call.run(async |_| {
            runs.add();
            Ok::<_, Error>(result.clone())
        })
        .await
    };
    assert_eq!(call().await.expect("executed"), result, "{codec:?}: {key}");
    for _ in 0..2 {
        let error = call().await.expect_err("not kept");
        assert_eq!(error.kind(), ErrorKind::ResultNotKept, "{codec:?}: {key}");
        assert!(error.may_have_run() && !error.is_retryable());
    }
    assert_eq!(runs.count(), 1, "{codec:?}: {key}");
    let record = value(server, &format!("idem:{{{codec:?}::{key}}}")).expect("a record");
    assert!(record.starts_with(b"1C-1") && record.len() == 40, "without a payload");
}

/// Case O-31, `Some(None)`: no codec here can tell it from `None`.
#[tokio::test]
async fn a_result_that_would_come_back_changed_is_not_kept_and_not_run_again() {
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Skipping {
        #[serde(rename(serialize = "written", deserialize = "read"))]
        field: u8,
    }
    let server = server();
    for &codec in CODECS {
        is_not_kept(codec, &server, "some-none", Policy::new(), Some(None::<u8>)).await;
        is_not_kept(codec, &server, "some-unit", Policy::new(), vec![Some(())]).await;
        is_not_kept(codec, &server, "unreadable", Policy::new(), Skipping { field: 1 }).await;
    }
}

#[tokio::test]
async fn what_json_has_no_word_for_is_not_kept_in_it() {
    let server = server();
    is_not_kept(Codec::Json, &server, "infinite", Policy::new(), f64::INFINITY).await;
    is_not_kept(Codec::Json, &server, "pairs", Policy::new(), BTreeMap::from([((1, 2), 3)])).await;
    is_not_kept(Codec::Json, &server, "some-unit-struct", Policy::new(), Some(Unit)).await;
}

#[cfg(feature = "messagepack")]
#[tokio::test]
async fn messagepack_keeps_what_json_has_no_word_for() {
    let server = server();
    comes_back(&server, Codec::MessagePack, "infinite", f64::INFINITY).await;
    comes_back(&server, Codec::MessagePack, "pairs", BTreeMap::from([((1, 2), 3)])).await;
    comes_back(&server, Codec::MessagePack, "some-unit-struct", Some(Unit)).await;
    let record = comes_back(&server, Codec::MessagePack, "bytes", Blob(vec![0xff; 200])).await;
    assert_eq!(record.len(), 40 + 2 + 200);
}

#[tokio::test]
async fn a_result_over_the_limit_reaches_its_caller_and_is_not_kept() {
    let server = server();
    for &codec in CODECS {
        is_not_kept(codec, &server, "big", Policy::new().max_result(100), "x".repeat(200)).await;
        is_not_kept(codec, &server, "big-list", Policy::new().max_result(100), vec![(); 200]).await;
    }
}

/// The record names its codec, so an engine reads what another one wrote.
#[cfg(feature = "messagepack")]
#[tokio::test]
async fn an_engine_that_changes_its_codec_still_replays_what_it_kept_before() {
    let server = server();
    let (before, after) = (engine_in(Codec::Json, &server), engine_in(Codec::MessagePack, &server));
    let call = async |engine: &Engine, key: &str, result: u32| {
        engine.operation("deploy").key(key).fingerprint(&()).run(async |_| Ok::<_, Error>(result)).await.unwrap()
    };
    let payload = |key: &str| value(&server, &format!("idem:{{deploy::{key}}}")).unwrap();
    assert_eq!(call(&before, "old", 7).await, 7);
    assert_eq!(call(&after, "old", 8).await, 7);
    assert!(payload("old").starts_with(b"1Cj1") && payload("old").ends_with(b"7"));
    assert_eq!(call(&after, "new", 300).await, 300);
    assert!(payload("new").starts_with(b"1Cm1") && payload("new").ends_with(b"\xcd\x01\x2c"));
    // While a deploy is under way, or taken back.
    assert_eq!(call(&before, "new", 9).await, 300);
}

#[tokio::test]
async fn a_value_that_could_not_be_kept_says_so_with_the_same_fingerprint_only() {
    let server = server();
    let engine = engine_in(Codec::Json, &server);
    let call = async |arguments: u8| {
        let call = engine.operation("nested").key("k").fingerprint(&arguments);
        call.run(async |_| Ok::<_, Error>(Some(None::<u8>))).await
    };
    assert_eq!(call(1).await.unwrap(), Some(None));
    assert_eq!(kind(call(2).await), ErrorKind::Mismatch);
    assert_eq!(kind(call(1).await), ErrorKind::ResultNotKept);
}

impl Debug for Blob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl<'de> Visitor<'de> for Bytes {
            type Value = Blob;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Blob, E> {
                Ok(Blob(bytes.to_vec()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Blob, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = items.next_element()? {
                    bytes.push(byte);
                }
                Ok(Blob(bytes))
            }
        }
        deserializer.deserialize_byte_buf(Bytes)
    }
}

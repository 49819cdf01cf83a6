//! Case O-32: a kept result that cannot be read any more. It is told; it is never deleted, and nothing runs again.

use std::fmt::Debug;
use std::sync::Arc;

use idem::{Codec, Engine, Error, ErrorKind, RedisStore};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use rand::{RngExt, SeedableRng};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use test_support::RedisServer;

use crate::results::{CODECS, engine_in};
use crate::support::{Runs, kind, pool, pttl, server, value};

/// What the release before returned.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Receipt {
    card: String,
}

/// What the release of today returns.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct DetailedReceipt {
    card: String,
    fee: u32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct LenientReceipt {
    card: String,
    #[serde(default)]
    fee: u32,
}

const CARD: &str = "4111111111111111";
const RECORD: &str = "idem:{payments.charge::order-1}";

/// One operation, whatever its result type is in a release.
async fn charge<T: Serialize + DeserializeOwned>(engine: &Engine, runs: &Runs, result: T) -> Result<T, Error> {
    let call = engine.operation("payments.charge").key("order-1").fingerprint(&4200);
    call.run(async |_| {
        runs.add();
        Ok(result)
    })
    .await
}

fn receipt() -> Receipt {
    Receipt { card: CARD.to_owned() }
}

fn detailed() -> DetailedReceipt {
    DetailedReceipt { card: "never".to_owned(), fee: 1 }
}

/// What the release before left, and how often the body ran for it.
async fn kept(codec: Codec, server: &RedisServer) -> (Runs, Vec<u8>) {
    let runs = Runs::default();
    server.command(&["DEL", RECORD]).expect("DEL");
    assert_eq!(charge(&engine_in(codec, server), &runs, receipt()).await.expect("executed"), receipt());
    (runs, value(server, RECORD).expect("a record"))
}

#[tokio::test]
async fn a_result_whose_type_was_changed_is_undecodable_and_stays() {
    let server = server();
    for &codec in CODECS {
        let (runs, record) = kept(codec, &server).await;
        let recorder = DebuggingRecorder::new();
        let snapshots = recorder.snapshotter();
        let guard = metrics::set_default_local_recorder(&recorder);
        let engine = engine_in(codec, &server);
        for repeat in 1..3 {
            let left = pttl(&server, RECORD);
            let error = charge(&engine, &runs, detailed()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Undecodable);
            assert!(error.may_have_run() && !error.is_retryable() && error.retry_after().is_none());
            says_which_but_shows_no_data(&error);
            assert_eq!(value(&server, RECORD).as_ref(), Some(&record));
            assert!(pttl(&server, RECORD) <= left, "it lives no longer for having been asked for");
            assert_eq!(calls_ended(&snapshots.snapshot().into_vec(), "undecodable"), 1, "repeat {repeat}");
        }
        drop(guard);
        assert_eq!(runs.count(), 1);
        // The release before still reads it.
        assert_eq!(charge(&engine, &runs, receipt()).await.unwrap(), receipt());
    }
}

fn says_which_but_shows_no_data(error: &Error) {
    let mut said = format!("{error} {error:?}");
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        said = format!("{said} {source} {source:?}");
        next = source.source();
    }
    assert!(said.contains("payments.charge") && said.contains("DetailedReceipt"), "{said}");
    for hidden in [CARD, "4200", "order-1", "fee"] {
        assert!(!said.contains(hidden), "{said}");
    }
}

type Metric = (metrics_util::CompositeKey, Option<metrics::Unit>, Option<metrics::SharedString>, DebugValue);

/// How many calls ended so since the last look.
fn calls_ended(metrics: &[Metric], outcome: &str) -> u64 {
    let counted = metrics.iter().filter(|(key, ..)| {
        let key = key.key();
        key.name() == idem::metrics::CALLS && key.labels().any(|label| label.value() == outcome)
    });
    counted.map(|(.., value)| if let DebugValue::Counter(count) = value { *count } else { 0 }).sum()
}

#[tokio::test]
async fn a_field_with_a_default_is_replayed() {
    let server = server();
    for &codec in CODECS {
        let (runs, _) = kept(codec, &server).await;
        let lenient = LenientReceipt { card: CARD.to_owned(), fee: 0 };
        let never = LenientReceipt { card: "never".to_owned(), fee: 1 };
        assert_eq!(charge(&engine_in(codec, &server), &runs, never).await.unwrap(), lenient);
        assert_eq!(runs.count(), 1);
    }
}

fn migrating(
    server: &RedisServer,
    codec: Codec,
    migrate: impl Fn(&str, Codec, &[u8]) -> Option<Vec<u8>> + Send + Sync + 'static,
) -> Engine {
    let store = RedisStore::new(pool(server, 1));
    Engine::builder(store).codec(codec).migrate(migrate).build().expect("the default policy")
}

/// Adds the field that the release before did not know.
fn add_fee(codec: Codec, payload: &[u8]) -> Option<Vec<u8>> {
    match codec {
        Codec::Json => Some([payload.strip_suffix(b"}")?, br#","fee":0}"#].concat()),
        // A map of one entry becomes one of two.
        _ => Some([b"\x82", payload.strip_prefix(b"\x81")?, b"\xa3fee\x00"].concat()),
    }
}

#[tokio::test]
async fn a_migrated_result_is_replayed_and_never_run_again() {
    let server = server();
    for &codec in CODECS {
        let (runs, record) = kept(codec, &server).await;
        let asked = Arc::new(Runs::default());
        let engine = migrating(&server, codec, {
            let asked = Arc::clone(&asked);
            move |operation, codec, payload| {
                asked.add();
                assert_eq!(operation, "payments.charge");
                add_fee(codec, payload)
            }
        });
        for _ in 0..2 {
            let migrated = charge(&engine, &runs, detailed()).await.unwrap();
            assert_eq!(migrated, DetailedReceipt { card: CARD.to_owned(), fee: 0 });
        }
        // What can be read needs no migration.
        assert_eq!(charge(&engine, &runs, receipt()).await.unwrap(), receipt());
        assert_eq!((runs.count(), asked.count()), (1, 2));
        assert_eq!(value(&server, RECORD), Some(record), "the record stays as it was");
    }
}

#[tokio::test]
async fn a_migration_that_does_not_know_or_fails_changes_nothing() {
    let server = server();
    for &codec in CODECS {
        let (runs, record) = kept(codec, &server).await;
        for made in [None, Some(vec![]), Some(b"\xc1 not a payload".to_vec()), Some(record[40..].to_vec())] {
            let engine = migrating(&server, codec, move |_, _, _| made.clone());
            let error = charge(&engine, &runs, detailed()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Undecodable);
            says_which_but_shows_no_data(&error);
        }
        assert_eq!((runs.count(), value(&server, RECORD)), (1, Some(record)));
    }
}

/// A migration has the codec of the record, not of the engine.
#[cfg(feature = "messagepack")]
#[tokio::test]
async fn a_migration_works_across_a_change_of_codec() {
    let server = server();
    let (runs, _) = kept(Codec::Json, &server).await;
    let engine = migrating(&server, Codec::MessagePack, |_, codec, payload| add_fee(codec, payload));
    let migrated = charge(&engine, &runs, detailed()).await.unwrap();
    assert_eq!((migrated, runs.count()), (DetailedReceipt { card: CARD.to_owned(), fee: 0 }, 1));
}

fn overwrite(server: &RedisServer, record: &[u8]) {
    server.client().expect("a client").call(&[b"SET", RECORD.as_bytes(), record, b"KEEPTTL"]).expect("SET");
}

/// Through the fast claim and through the script: refused as one of `kinds`, nothing runs, nothing is written.
async fn refuses(server: &RedisServer, engines: &[Engine; 2], runs: &Runs, record: &[u8], kinds: &[ErrorKind]) {
    overwrite(server, record);
    for engine in engines {
        let shown = String::from_utf8_lossy(record);
        let refused = kind(charge(engine, runs, receipt()).await);
        assert!(kinds.contains(&refused), "{refused:?} for {shown:?}");
        assert_eq!(value(server, RECORD).as_deref(), Some(record), "{shown:?}");
    }
    assert_eq!(runs.count(), 1);
}

fn both_ways(codec: Codec, server: &RedisServer) -> [Engine; 2] {
    [true, false].map(|fast| {
        let store = RedisStore::builder(pool(server, 1)).fast_claim(fast).build().expect("the default prefix");
        Engine::builder(store).codec(codec).build().expect("the default policy")
    })
}

#[tokio::test]
async fn damaged_records_are_told_and_left_alone() {
    const CORRUPT: &[ErrorKind] = &[ErrorKind::Corrupt];
    const UNDECODABLE: &[ErrorKind] = &[ErrorKind::Undecodable];
    let server = server();
    let mut random = rand::rngs::SmallRng::seed_from_u64(32);
    for &codec in CODECS {
        let (runs, record) = kept(codec, &server).await;
        let engines = both_ways(codec, &server);
        for end in 0..record.len() {
            let kinds = if end < 40 { CORRUPT } else { UNDECODABLE };
            refuses(&server, &engines, &runs, &record[..end], kinds).await;
        }
        for (at, byte) in [(0, b'2'), (0, b'\0'), (1, b'U'), (1, b'G'), (2, b'J'), (2, b'\xff'), (3, b'2'), (4, b'!')] {
            let mut damaged = record.clone();
            damaged[at] = byte;
            refuses(&server, &engines, &runs, &damaged, CORRUPT).await;
        }
        for len in (0..100).chain([1000]) {
            let noise: Vec<u8> = (0..len).map(|_| random.random()).collect();
            refuses(&server, &engines, &runs, &noise, CORRUPT).await;
            refuses(&server, &engines, &runs, &[&record[..40], &noise].concat(), UNDECODABLE).await;
        }
        // Lengths of gigabytes, in a few bytes.
        for lie in
            [&b"\xdd\xff\xff\xff\xff"[..], b"\xdf\xff\xff\xff\xff\xa4card", b"\x81\xa4card\xdb\xff\xff\xff\xff4111"]
        {
            refuses(&server, &engines, &runs, &[&record[..40], lie].concat(), UNDECODABLE).await;
        }
        overwrite(&server, &record);
        assert_eq!(charge(&engines[0], &runs, receipt()).await.unwrap(), receipt());
        assert_eq!(runs.count(), 1);
    }
}

/// Such a record comes from a newer release, or from a build with more features. The fingerprint is compared all the same.
#[tokio::test]
async fn a_codec_that_is_not_built_in_is_corrupt() {
    let server = server();
    let (runs, record) = kept(Codec::Json, &server).await;
    let engines = both_ways(Codec::Json, &server);
    let foreign: &[u8] = if cfg!(feature = "messagepack") { b"az" } else { b"amz" };
    for &letter in foreign {
        let unknown = [&record[..2], &[letter], &record[3..]].concat();
        refuses(&server, &engines, &runs, &unknown, &[ErrorKind::Corrupt]).await;
        for engine in &engines {
            let error = charge(engine, &runs, receipt()).await.unwrap_err();
            let why = std::error::Error::source(&error).expect("a source");
            assert_eq!(why.to_string(), "the record's codec is unknown to this build");
            let other = engine.operation("payments.charge").key("order-1").fingerprint(&9900);
            assert_eq!(kind(other.run(async |_| Ok::<_, Error>(receipt())).await), ErrorKind::Mismatch);
        }
    }
    assert_eq!(runs.count(), 1);
}

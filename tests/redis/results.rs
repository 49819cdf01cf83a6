//! What comes back is what was returned, down to the emptiest value.

use std::collections::BTreeMap;
use std::fmt::Debug;

use idem::{Engine, Error, ErrorKind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::support::{Runs, engine, kind, server};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Unit;

async fn comes_back<T>(engine: &Engine, key: &str, value: T)
where
    T: Debug + Clone + PartialEq + Serialize + DeserializeOwned,
{
    let runs = Runs::default();
    for _ in 0..2 {
        let call = engine.operation("falsy").key(key).fingerprint(&());
        let given = call.run(async |_| {
            runs.add();
            Ok::<_, Error>(value.clone())
        });
        assert_eq!(given.await.expect("given"), value, "{key}");
    }
    assert_eq!(runs.count(), 1, "{key}");
}

/// Case O-31.
#[tokio::test]
async fn empty_results_are_replayed() {
    let server = server();
    let engine = engine(&server);
    comes_back(&engine, "unit", ()).await;
    comes_back(&engine, "none", None::<u8>).await;
    comes_back(&engine, "false", false).await;
    comes_back(&engine, "zero", 0_u64).await;
    comes_back(&engine, "no text", String::new()).await;
    comes_back(&engine, "no elements", Vec::<u8>::new()).await;
    comes_back(&engine, "no entries", BTreeMap::<String, u8>::new()).await;
    comes_back(&engine, "unit struct", Unit).await;
    comes_back(&engine, "null", serde_json::Value::Null).await;
}

/// Case O-31, `Some(None)`: JSON cannot tell it from `None`, so it is not kept, and a repeat is told so.
#[tokio::test]
async fn a_result_that_would_come_back_changed_is_not_kept_and_not_run_again() {
    let server = server();
    let engine = engine(&server);
    let runs = Runs::default();
    let call = async || {
        let call = engine.operation("nested").key("k").fingerprint(&());
        call.run(async |_| {
            runs.add();
            Ok::<_, Error>(Some(None::<u8>))
        })
        .await
    };
    assert_eq!(call().await.unwrap(), Some(None));
    let error = call().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResultNotKept);
    assert!(error.may_have_run() && !error.is_retryable());
    assert_eq!(runs.count(), 1);
}

#[tokio::test]
async fn a_result_over_the_limit_reaches_its_caller_and_is_not_kept() {
    let server = server();
    let engine = crate::support::engine_with(&server, idem::Policy::new().max_result(100));
    let call = || engine.operation("big").key("k").fingerprint(&()).run(async |_| Ok::<_, Error>("x".repeat(200)));
    assert_eq!(call().await.unwrap().len(), 200);
    assert_eq!(kind(call().await), ErrorKind::ResultNotKept);
}

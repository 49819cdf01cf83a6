//! What a name stands for: one operation per engine, found by its function's path where none is given.
#![cfg(feature = "macros")]

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use idem::{Engine, Error, ErrorKind, idempotent, with_engine};

/// How often each body ran.
static UNNAMED: AtomicU32 = AtomicU32::new(0);
static GENERIC: AtomicU32 = AtomicU32::new(0);

const FIRST: u32 = line!() + 5;

mod first {
    use super::*;

    #[idempotent(name = "charge.v1", key = id)]
    pub(crate) async fn charge(id: u64) -> Result<u64, Error> {
        Ok(id)
    }

    #[idempotent(key = id)]
    pub(crate) async fn ship(id: u64) -> Result<String, Error> {
        UNNAMED.fetch_add(1, SeqCst);
        let _ = id;
        Ok("first".to_owned())
    }
}

const SECOND: u32 = line!() + 5;

mod second {
    use super::*;

    #[idempotent(name = "charge.v1", key = id)]
    pub(crate) async fn charge(id: u64) -> Result<u64, Error> {
        Ok(id)
    }

    #[idempotent(key = id)]
    pub(crate) async fn ship(id: u64) -> Result<String, Error> {
        UNNAMED.fetch_add(1, SeqCst);
        let _ = id;
        Ok("second".to_owned())
    }
}

#[tokio::test]
async fn two_functions_of_one_name_are_told_with_both_places() {
    with_engine(Engine::in_memory(), async {
        first::charge(1).await.unwrap();
        for _ in 0..2 {
            let error = second::charge(2).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config);
            assert_eq!(
                error.to_string(),
                format!(
                    "charge.v1: two functions have this name: tests/names.rs:{FIRST}:5 and tests/names.rs:{SECOND}:5; \
                     give one of them another `name`"
                )
            );
            assert!(!error.may_have_run() && !error.is_retryable());
        }
        first::charge(3).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn functions_without_a_name_are_told_apart_by_their_paths() {
    with_engine(Engine::in_memory(), async {
        for _ in 0..2 {
            assert_eq!(first::ship(1).await.unwrap(), "first");
            assert_eq!(second::ship(1).await.unwrap(), "second");
        }
    })
    .await;
    assert_eq!(UNNAMED.load(SeqCst), 2);
}

macro_rules! operations {
    ($($function:ident $name:literal),*) => {$(
        #[idempotent(name = $name, key = id)]
        async fn $function(id: u64) -> Result<u64, Error> {
            Ok(id)
        }
    )*};
}

operations!(alone "alone", twin "twin", other_twin "twin");

#[tokio::test]
async fn functions_of_one_macro_call_are_told_apart() {
    with_engine(Engine::in_memory(), async {
        alone(1).await.unwrap();
        twin(1).await.unwrap();
        assert_eq!(other_twin(1).await.unwrap_err().kind(), ErrorKind::Config);
    })
    .await;
}

#[tokio::test]
async fn calls_without_the_attribute_may_share_a_name() {
    let engine = Engine::in_memory();
    for id in 0..2 {
        let call = engine.operation("charge.v1").key(&id);
        call.run(async |_| Ok::<_, Error>(id)).await.unwrap();
    }
    with_engine(engine, first::charge(5)).await.unwrap();
}

struct Orders;

impl Orders {
    #[idempotent(key = id)]
    async fn weigh(id: u64) -> Result<u64, Error> {
        Ok(id)
    }
}

trait Weigh {
    async fn weigh(id: u64) -> Result<u64, Error>;
}

impl Weigh for u8 {
    #[idempotent(key = id)]
    async fn weigh(id: u64) -> Result<u64, Error> {
        Ok(id)
    }
}

#[tokio::test]
async fn nested_and_associated_functions_without_a_name_are_told() {
    #[idempotent(key = id)]
    async fn nested(id: u64) -> Result<u64, Error> {
        Ok(id)
    }

    with_engine(Engine::in_memory(), async {
        for error in [nested(1).await, Orders::weigh(1).await, u8::weigh(1).await].map(Result::unwrap_err) {
            assert_eq!(error.kind(), ErrorKind::Config);
            let text = error.to_string();
            let (_, sentence) = text.split_once(": ").unwrap();
            assert!(
                sentence.starts_with(
                    "a nested or associated function needs a `name`, as in `name = \"orders.charge\"`: tests/names.rs:"
                ),
                "{text}"
            );
        }
    })
    .await;
}

trait Kind {
    const KIND: &'static str;
}

impl Kind for u8 {
    const KIND: &'static str = "byte";
}

impl Kind for f64 {
    const KIND: &'static str = "number";
}

#[idempotent(key = id, skip(value))]
async fn echo<T: serde::Serialize + serde::de::DeserializeOwned>(id: u64, value: T) -> Result<T, Error> {
    GENERIC.fetch_add(1, SeqCst);
    Ok(value)
}

#[idempotent(key = (T::KIND, id), skip(value))]
async fn echo_kind<T: Kind + serde::Serialize + serde::de::DeserializeOwned>(id: u64, value: T) -> Result<T, Error> {
    Ok(value)
}

#[tokio::test]
async fn a_generic_function_is_one_operation_for_all_its_instantiations() {
    with_engine(Engine::in_memory(), async {
        assert_eq!(echo(7, 1_u8).await.unwrap(), 1);
        let replayed = echo(7, 2.5_f64).await.unwrap();
        assert!((replayed - 1.0).abs() < f64::EPSILON, "the byte's record, read as a number");
        assert_eq!(GENERIC.load(SeqCst), 1);

        assert_eq!(echo_kind(7, 1_u8).await.unwrap(), 1);
        let executed = echo_kind(7, 2.5_f64).await.unwrap();
        assert!((executed - 2.5).abs() < f64::EPSILON, "what tells them apart is in the key");
    })
    .await;
}

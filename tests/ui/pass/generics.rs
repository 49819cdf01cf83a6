use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use idem::{Engine, Error, IdempotencyKey, idempotent};
use serde::{Serialize, de::DeserializeOwned};

static RUNS: AtomicU32 = AtomicU32::new(0);

trait Kind {
    const KIND: &'static str;
}

impl Kind for u8 {
    const KIND: &'static str = "byte";
}

impl Kind for f64 {
    const KIND: &'static str = "number";
}

/// One operation for all instantiations: what tells them apart is in the key.
#[idempotent(key = (T::KIND, id), skip(buffer))]
async fn convert<'a, T, const N: usize>(id: &'a str, value: T, buffer: &'a [u8; N]) -> Result<T, Error>
where
    T: Kind + Serialize + DeserializeOwned + Send,
{
    RUNS.fetch_add(1, SeqCst);
    assert_eq!((id.len(), buffer.len()), (1, N));
    Ok(value)
}

#[idempotent(key = id)]
async fn opaque(
    id: impl AsRef<str> + IdempotencyKey + Serialize,
) -> Result<impl Serialize + DeserializeOwned + Into<String>, Error> {
    RUNS.fetch_add(1, SeqCst);
    Ok(id.as_ref().to_owned())
}

#[idempotent(key = id)]
async fn across_await<T: Serialize + Send>(id: u8, value: T) -> Result<u8, Error> {
    tokio::task::yield_now().await;
    drop(value);
    Ok(id)
}

fn assert_send<F: Future + Send>(future: F) -> F {
    future
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    idem::with_engine(Engine::in_memory(), async {
        for _ in 0..2 {
            let id = String::from("7");
            assert_eq!(assert_send(convert(&id, 7_u8, &[0; 4])).await.unwrap(), 7);
            assert_eq!(convert(&id, 0.5_f64, &[0; 9]).await.unwrap(), 0.5);
            let text: String = opaque("text").await.unwrap().into();
            assert_eq!(text, "text");
        }
        assert_eq!(RUNS.load(SeqCst), 3);
        // `Cell` is no `Sync`, so a future that borrowed the argument would be no `Send`.
        assert_eq!(assert_send(across_await(1, Cell::new(1))).await.unwrap(), 1);
    })
    .await;
}

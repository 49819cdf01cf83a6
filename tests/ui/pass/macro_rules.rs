use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use idem::{Engine, Error, idempotent};

static RUNS: AtomicU32 = AtomicU32::new(0);

macro_rules! operation {
    ($name:ident = $text:literal, $key:expr, $lease:literal, $pattern:pat => $type:ty, $return:ty, $body:block) => {
        #[idempotent(name = $text, key = $key, lease = $lease)]
        async fn $name($pattern: $type) -> $return $body
    };
}

operation!(single = "single", id, "1s", id => u64, Result<u64, Error>, {
    RUNS.fetch_add(1, SeqCst);
    Ok(id)
});
operation!(pair = "pair", (a, (b)), "1s", (a, b) => (String, String), Result<String, Error>, {
    RUNS.fetch_add(1, SeqCst);
    Ok(a + &b)
});

#[tokio::main(flavor = "current_thread")]
async fn main() {
    idem::with_engine(Engine::in_memory(), async {
        for _ in 0..2 {
            assert_eq!(single(1).await.unwrap(), 1);
            assert_eq!(pair(("a".to_owned(), "b".to_owned())).await.unwrap(), "ab");
        }
        assert_eq!(RUNS.load(SeqCst), 2);
    })
    .await;
}

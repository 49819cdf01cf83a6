use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use idem::{Engine, Error, ErrorKind, idempotent};

static RUNS: AtomicU32 = AtomicU32::new(0);

struct NotSerialize;

struct Point {
    x: u8,
    #[allow(dead_code)]
    rest: NotSerialize,
}

#[idempotent(key = (a, (x, format!("{n}-{first}"))))]
async fn take(
    (mut a, b): (u8, u8),
    [first, ..]: [u8; 3],
    &n: &u8,
    Point { x, .. }: Point,
    _: NotSerialize,
    (Ok(either) | Err(either)): Result<u8, u8>,
    mut m: u8,
) -> Result<u8, Error> {
    RUNS.fetch_add(1, SeqCst);
    a += 1;
    m += 1;
    Ok(a + b + first + n + x + either + m)
}

async fn call(b: u8, last: u8) -> Result<u8, Error> {
    let point = Point { x: 7, rest: NotSerialize };
    take((1, b), [3, 4, last], &6, point, NotSerialize, Err(8), 9).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    idem::with_engine(Engine::in_memory(), async {
        for _ in 0..2 {
            assert_eq!(call(2, 5).await.unwrap(), 38);
        }
        assert_eq!(RUNS.load(SeqCst), 1);
        assert_eq!(call(2, 99).await.unwrap(), 38, "what no name is bound to is not compared");
        assert_eq!(call(3, 5).await.unwrap_err().kind(), ErrorKind::Mismatch);
    })
    .await;
}

use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use idem::{Engine, idempotent};

static RUNS: AtomicU32 = AtomicU32::new(0);

#[derive(Debug)]
struct Declined;

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("declined")
    }
}

impl Error for Declined {}

#[idempotent(key = id)]
async fn boxed(id: u8) -> Result<u8, Box<dyn Error + Send + Sync>> {
    RUNS.fetch_add(1, SeqCst);
    if id == 1 {
        return Err(Box::new(Declined));
    }
    if id == 2 {
        return Err("text".into());
    }
    if id == 3 {
        "x".parse::<u8>()?;
    }
    if id == 4 { Err(Box::new(Declined)) } else { Ok(id) }
}

#[idempotent(key = id)]
async fn not_send(id: u8) -> Result<u8, Box<dyn Error>> {
    if id == 1 { Err(Box::new(Declined)) } else { Ok(id) }
}

type Reply = Result<u8, idem::Error>;

#[idempotent(key = id)]
async fn alias(id: u8) -> Reply {
    RUNS.fetch_add(1, SeqCst);
    Ok(id)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    idem::with_engine(Engine::in_memory(), async {
        for (id, text) in [(1, "declined"), (2, "text"), (3, "invalid digit found in string"), (4, "declined")] {
            assert_eq!(boxed(id).await.unwrap_err().to_string(), text);
        }
        assert_eq!(not_send(1).await.unwrap_err().to_string(), "declined");
        RUNS.store(0, SeqCst);
        for _ in 0..2 {
            assert_eq!(boxed(5).await.unwrap(), 5);
            assert_eq!(alias(5).await.unwrap(), 5);
        }
        assert_eq!(RUNS.load(SeqCst), 2);
    })
    .await;
}

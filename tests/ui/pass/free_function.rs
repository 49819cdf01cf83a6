use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use idem::{Engine, idempotent};

static RUNS: AtomicU32 = AtomicU32::new(0);

struct Gateway;

impl Gateway {
    async fn charge(&self, cents: u64) -> u64 {
        tokio::task::yield_now().await;
        RUNS.fetch_add(1, SeqCst);
        cents * 10
    }
}

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
struct Receipt {
    id: u64,
}

#[idempotent(name = "payments.charge", scope = tenant, key = order, skip(gateway), lease = "10s", retention = "1h")]
async fn charge(gateway: &Gateway, tenant: &str, order: &str, cents: u64) -> Result<Receipt, idem::Error> {
    Ok(Receipt { id: gateway.charge(cents).await })
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    idem::with_engine(Engine::in_memory(), async {
        for _ in 0..2 {
            assert_eq!(charge(&Gateway, "a", "order-1", 5).await.unwrap(), Receipt { id: 50 });
        }
        assert_eq!(RUNS.load(SeqCst), 1);

        let other_arguments = charge(&Gateway, "a", "order-1", 6).await.unwrap_err();
        assert_eq!(other_arguments.kind(), idem::ErrorKind::Mismatch);
        assert_eq!(charge(&Gateway, "b", "order-1", 6).await.unwrap(), Receipt { id: 60 });
        assert_eq!(RUNS.load(SeqCst), 2);
    })
    .await;
}

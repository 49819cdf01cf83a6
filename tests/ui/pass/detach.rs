use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use idem::{Attempt, Engine, Error, idempotent};

#[derive(Default)]
struct Reports {
    built: AtomicU32,
}

#[idempotent(name = "nested", key = id)]
async fn nested(id: u8) -> Result<u8, Error> {
    Ok(id)
}

impl Reports {
    #[idempotent(name = "reports.build", key = month, detach)]
    async fn build(self: Arc<Self>, month: String) -> Result<u32, Error> {
        tokio::time::sleep(Duration::from_millis(50)).await;
        // The engine and the attempt are there, in a task of its own.
        assert_eq!(nested(7).await?, 7);
        assert_eq!(Attempt::current().number(), 1);
        Ok(self.built.fetch_add(1, Ordering::SeqCst) + 1)
    }

    #[idempotent(name = "reports.panic", key = month, detach)]
    async fn panic(self: Arc<Self>, month: String) -> Result<u32, Error> {
        std::panic::resume_unwind(Box::new("as it was"));
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    idem::with_engine(Engine::in_memory(), async {
        let reports = Arc::new(Reports::default());
        // The caller goes away, the body does not.
        let gone = tokio::time::timeout(Duration::from_millis(20), Arc::clone(&reports).build("2026-11".to_owned()));
        assert!(gone.await.is_err());
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(reports.built.load(Ordering::SeqCst), 1);
        assert_eq!(Arc::clone(&reports).build("2026-11".to_owned()).await.unwrap(), 1);
        assert_eq!(Arc::clone(&reports).build("2026-12".to_owned()).await.unwrap(), 2);

        let panicking = tokio::spawn(idem::with_engine(Engine::in_memory(), reports.panic("x".to_owned())));
        let panic = panicking.await.unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref(), Some(&"as it was"));
    })
    .await;
}

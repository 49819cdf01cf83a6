use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use idem::{Engine, Error, idempotent};

static RUNS: AtomicU32 = AtomicU32::new(0);

#[allow(async_fn_in_trait)]
trait Notify {
    fn channel(&self) -> &str;

    async fn send(&self, message: u64) -> Result<String, Error>;

    fn send_soon(&self, message: u64) -> impl Future<Output = Result<String, Error>> + Send;

    #[idempotent(name = "notify.default", key = (self.channel(), message))]
    async fn send_by_default(&self, message: u64) -> Result<String, Error> {
        RUNS.fetch_add(1, SeqCst);
        Ok(format!("{}: {message}", self.channel()))
    }
}

struct Named(&'static str);

impl Notify for Named {
    fn channel(&self) -> &str {
        self.0
    }

    #[idempotent(name = "notify.send", key = message)]
    async fn send(&self, message: u64) -> Result<String, Error> {
        RUNS.fetch_add(1, SeqCst);
        Ok(format!("{}: {message}", self.0))
    }

    #[idempotent(name = "notify.soon", key = message)]
    async fn send_soon(&self, message: u64) -> Result<String, Error> {
        RUNS.fetch_add(1, SeqCst);
        Ok(format!("{}: {message}", self.0))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    idem::with_engine(Engine::in_memory(), async {
        let (mail, post) = (Named("mail"), Named("post"));
        for _ in 0..2 {
            assert_eq!(mail.send(1).await.unwrap(), "mail: 1");
            assert_eq!(mail.send_soon(1).await.unwrap(), "mail: 1");
            assert_eq!(mail.send_by_default(1).await.unwrap(), "mail: 1");
            assert_eq!(post.send_by_default(1).await.unwrap(), "post: 1");
        }
        assert_eq!(RUNS.load(SeqCst), 4);
    })
    .await;
}

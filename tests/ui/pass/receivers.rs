use std::pin::Pin;
use std::sync::Arc;

use idem::{Engine, Error, idempotent};

#[derive(Clone)]
struct Orders {
    engine: Engine,
    shipped: u64,
}

impl Orders {
    const KIND: &'static str = "order";

    fn fee() -> u64 {
        100
    }

    #[idempotent(name = "shared", key = (Self::KIND, id), engine = self.engine)]
    async fn shared(&self, id: u64) -> Result<u64, Error> {
        Ok(self.shipped + id + Self::fee())
    }

    #[idempotent(name = "exclusive", key = id)]
    async fn exclusive(&mut self, id: u64) -> Result<u64, Error> {
        self.shipped += id;
        Ok(self.shipped)
    }

    #[idempotent(name = "owned", key = self.shipped, skip(self))]
    async fn owned(self) -> Result<u64, Error> {
        Ok(self.shipped)
    }

    #[idempotent(name = "owned_mut", key = self.shipped)]
    async fn owned_mut(mut self) -> Result<u64, Error> {
        self.shipped += 1;
        Ok(self.shipped)
    }

    #[idempotent(name = "counted", key = self.shipped, engine = self.engine)]
    async fn counted(self: Arc<Self>) -> Result<usize, Error> {
        Ok(Arc::strong_count(&self))
    }

    #[idempotent(name = "boxed", key = self.shipped)]
    async fn boxed(self: Box<Self>) -> Result<u64, Error> {
        Ok(self.shipped)
    }

    #[idempotent(name = "pinned", key = id)]
    async fn pinned(mut self: Pin<&mut Self>, id: u64) -> Result<u64, Error> {
        self.shipped += id;
        Ok(self.shipped)
    }

    #[idempotent(name = "none", key = id)]
    async fn without(id: u64) -> Result<u64, Error> {
        Ok(id + Self::fee())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let engine = Engine::in_memory();
    let mut orders = Orders { engine: engine.clone(), shipped: 1 };
    // Outside of `with_engine`: the receiver brings its own.
    assert_eq!(orders.shared(2).await.unwrap(), 103);

    idem::with_engine(engine, async {
        for _ in 0..2 {
            assert_eq!(orders.exclusive(2).await.unwrap(), 3);
        }
        for _ in 0..2 {
            assert_eq!(Pin::new(&mut orders).pinned(4).await.unwrap(), 7);
        }
        assert_eq!(orders.shipped, 7, "each body ran once");
        assert_eq!(orders.shared(2).await.unwrap(), 103, "a replay sees no later change");

        for _ in 0..2 {
            assert_eq!(orders.clone().owned().await.unwrap(), 7);
            assert_eq!(orders.clone().owned_mut().await.unwrap(), 8);
            assert_eq!(Box::new(orders.clone()).boxed().await.unwrap(), 7);
            assert_eq!(Orders::without(1).await.unwrap(), 101);
        }
        let shared = Arc::new(orders.clone());
        let also = Arc::clone(&shared);
        assert_eq!(shared.counted().await.unwrap(), 2);
        assert_eq!(also.counted().await.unwrap(), 2, "replayed, though it is the last one now");
    })
    .await;
}

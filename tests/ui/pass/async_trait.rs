//! `#[async_trait]` always expands first, whichever of the two is written above.
#![deny(warnings)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use idem::{Engine, Error, idempotent};

static RUNS: AtomicU32 = AtomicU32::new(0);

struct NotSerialize;

#[async_trait::async_trait]
trait Ship: Send + Sync {
    fn shop(&self) -> u64;

    async fn ship(&self, id: u64) -> Result<u64, Error>;

    #[idempotent(name = "orders.pack", key = (self.shop(), order))]
    async fn pack(&self, order: &str, (a, mut b): (u8, u8), mut n: u64, _: NotSerialize) -> Result<u64, Error> {
        RUNS.fetch_add(1, SeqCst);
        b += 1;
        n += self.shop();
        if order.is_empty() {
            return Err(Error::find(&std::fmt::Error).unwrap().clone());
        }
        Ok(n + u64::from(a + b))
    }
}

struct Orders {
    shop: u64,
    engine: Engine,
}

impl Orders {
    const FEE: u64 = 100;
}

#[async_trait::async_trait]
impl Ship for Orders {
    fn shop(&self) -> u64 {
        self.shop
    }

    #[idempotent(name = "orders.ship", key = (Self::FEE, self.shop, id), engine = self.engine)]
    async fn ship(&self, id: u64) -> Result<u64, Error> {
        RUNS.fetch_add(1, SeqCst);
        Ok(self.shop + id + Self::FEE)
    }
}

#[async_trait::async_trait(?Send)]
trait Own {
    async fn own(mut self, by: u64) -> Result<u64, Error>;
    async fn share<T: idem::IdempotencyKey + std::fmt::Debug>(self: Arc<Self>, id: T) -> Result<String, Error>;
    async fn weigh(id: u64, log: &mut Vec<u64>) -> Result<u64, Error>;
}

#[async_trait::async_trait(?Send)]
impl Own for Orders {
    #[idempotent(name = "orders.own", key = self.shop)]
    async fn own(mut self, by: u64) -> Result<u64, Error> {
        RUNS.fetch_add(1, SeqCst);
        self.shop += by;
        Ok(self.shop)
    }

    #[idempotent(name = "orders.share", key = id)]
    async fn share<T: idem::IdempotencyKey + std::fmt::Debug>(self: Arc<Self>, id: T) -> Result<String, Error> {
        RUNS.fetch_add(1, SeqCst);
        Ok(format!("{}: {id:?}", self.shop))
    }

    #[idempotent(name = "orders.weigh", key = id, skip(log))]
    async fn weigh(id: u64, log: &mut Vec<u64>) -> Result<u64, Error> {
        RUNS.fetch_add(1, SeqCst);
        log.push(id);
        Ok(id * Self::FEE)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let engine = Engine::in_memory();
    let orders = || Orders { shop: 7, engine: engine.clone() };
    let mut log = Vec::new();
    let ship: Box<dyn Ship> = Box::new(orders());
    let replayed = async {
        for _ in 0..2 {
            assert_eq!(ship.ship(1).await.unwrap(), 108);
            assert_eq!(ship.pack("order", (1, 2), 3, NotSerialize).await.unwrap(), 14);
            assert_eq!(orders().own(5).await.unwrap(), 12);
            assert_eq!(Arc::new(orders()).share('x').await.unwrap(), "7: 'x'");
            assert_eq!(Orders::weigh(3, &mut log).await.unwrap(), 300);
        }
        assert_eq!(ship.pack("order", (1, 3), 3, NotSerialize).await.unwrap_err().kind(), idem::ErrorKind::Mismatch);
    };
    idem::with_engine(engine.clone(), replayed).await;
    assert_eq!(RUNS.load(SeqCst), 5);
    assert_eq!(log, [3]);
}

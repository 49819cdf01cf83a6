use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use idem::{Engine, Error, Policy, idempotent};

#[derive(Default)]
struct Gateway {
    charges: AtomicU32,
    questions: AtomicU32,
}

impl Gateway {
    async fn charge(&self, hang: bool) -> u32 {
        let charge = self.charges.fetch_add(1, Ordering::SeqCst) + 1;
        if hang {
            std::future::pending::<()>().await;
        }
        charge
    }

    async fn find(&self, order: &str) -> Result<Option<u32>, Error> {
        self.questions.fetch_add(1, Ordering::SeqCst);
        Ok((order == "charged").then(|| self.charges.load(Ordering::SeqCst)))
    }
}

const SHORT: Policy = Policy::new().lease(Duration::from_millis(100)).valid();

// What is asked borrows the arguments, which the body then moves.
#[idempotent(key = order, skip(gateway, hang), policy = SHORT, recover = gateway.find(&order))]
async fn charge(gateway: &Gateway, order: String, hang: bool) -> Result<u32, Error> {
    let charge = gateway.charge(hang).await;
    drop(order);
    Ok(charge)
}

// With a `?`, and more than one await.
#[idempotent(key = order, skip(gateway, hang), policy = SHORT, recover = async {
    gateway.find(&order).await?;
    gateway.find("charged").await
})]
async fn asks_twice(gateway: &Gateway, order: String, hang: bool) -> Result<u32, Error> {
    Ok(gateway.charge(hang).await)
}

async fn is_cut_short(call: impl Future<Output = Result<u32, Error>>) {
    assert!(tokio::time::timeout(Duration::from_millis(20), call).await.is_err());
    tokio::time::sleep(Duration::from_millis(120)).await;
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let gateway = Gateway::default();
    let seen = || (gateway.charges.load(Ordering::SeqCst), gateway.questions.load(Ordering::SeqCst));
    idem::with_engine(Engine::in_memory(), async {
        is_cut_short(charge(&gateway, "charged".to_owned(), true)).await;
        assert_eq!(charge(&gateway, "charged".to_owned(), false).await.unwrap(), 1);
        assert_eq!(charge(&gateway, "charged".to_owned(), false).await.unwrap(), 1);
        assert_eq!(seen(), (1, 1));

        is_cut_short(charge(&gateway, "not charged".to_owned(), true)).await;
        assert_eq!(charge(&gateway, "not charged".to_owned(), false).await.unwrap(), 3);
        assert_eq!(seen(), (3, 2));

        is_cut_short(asks_twice(&gateway, "x".to_owned(), true)).await;
        assert_eq!(asks_twice(&gateway, "x".to_owned(), false).await.unwrap(), 4);
        assert_eq!(seen(), (4, 4));
    })
    .await;
}

use idem::{Engine, Error, ErrorKind, Policy, idempotent};

/// What is not of the user's making, and holds more than the intent.
#[derive(Clone)]
struct Request {
    id: String,
    cents: u32,
    trace: u64,
}

#[idempotent(key = request.id, fingerprint = (request.cents, currency), policy = policy)]
async fn charge(request: &Request, currency: &str, policy: Policy) -> Result<u64, Error> {
    Ok(request.trace)
}

#[idempotent(key = id, fingerprint = *id % 2)]
async fn changes(id: &mut u8) -> Result<u8, Error> {
    Ok(*id)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    idem::with_engine(Engine::in_memory(), async {
        let request = Request { id: "r".to_owned(), cents: 5, trace: 1 };
        let other_trace = Request { trace: 2, ..request.clone() };
        let other_cents = Request { cents: 6, ..request.clone() };
        assert_eq!(charge(&request, "EUR", Policy::new()).await.unwrap(), 1);
        assert_eq!(charge(&other_trace, "EUR", Policy::new()).await.unwrap(), 1);
        for refused in [charge(&other_cents, "EUR", Policy::new()).await, charge(&request, "USD", Policy::new()).await] {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::Mismatch);
        }
        assert_eq!((changes(&mut 1).await.unwrap(), changes(&mut 1).await.unwrap()), (1, 1));
    })
    .await;
}

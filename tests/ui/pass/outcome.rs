use idem::{Engine, Error, Outcome, idempotent};

#[idempotent(key = id)]
async fn ship(id: u8) -> Result<Outcome<u8>, Error> {
    Ok((id + 1).into())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    idem::with_engine(Engine::in_memory(), async {
        let (first, second) = (ship(1).await.unwrap(), ship(1).await.unwrap());
        assert_eq!((*first, first.seen().unwrap().is_replayed()), (2, false));
        assert_eq!((*second, second.seen().unwrap().is_replayed()), (2, true));
    })
    .await;
}

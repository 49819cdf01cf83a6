use idem::{Error, idempotent};

#[idempotent(key = id, hold = |error| error.is_retryable())]
async fn charge(id: u8) -> Result<u8, Error> {
    Ok(id)
}

fn main() {}

use idem::{Error, idempotent};

#[idempotent(key = id, policy = "30s")]
async fn charge(id: u8) -> Result<u8, Error> {
    Ok(id)
}

fn main() {}

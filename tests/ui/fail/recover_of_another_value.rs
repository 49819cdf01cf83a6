use idem::{Error, idempotent};

async fn find(id: u8) -> Result<Option<String>, Error> {
    Ok(Some(id.to_string()))
}

#[idempotent(key = id, recover = find(id))]
async fn charge(id: u8) -> Result<u8, Error> {
    Ok(id)
}

fn main() {}

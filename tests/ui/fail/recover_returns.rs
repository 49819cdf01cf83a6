use idem::{Error, idempotent};

async fn find(id: u8) -> Result<Option<u8>, Error> {
    Ok(Some(id))
}

#[idempotent(key = id, recover = async { return find(id).await })]
async fn charge(id: u8) -> Result<u8, Error> {
    Ok(id)
}

fn main() {}

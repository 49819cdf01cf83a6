use idem::{Error, idempotent};

struct Service;

impl Service {
    #[idempotent(name = "charge", key = id, detach)]
    async fn charge(&self, id: u8) -> Result<u8, Error> {
        Ok(id)
    }
}

fn main() {}

use idem::{Error, idempotent};

fn is_timeout(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::TimedOut
}

#[idempotent(key = id, hold = is_timeout)]
async fn charge(id: u8) -> Result<u8, Error> {
    Ok(id)
}

fn main() {}

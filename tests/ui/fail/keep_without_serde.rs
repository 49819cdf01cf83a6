use idem::idempotent;

#[derive(Debug, thiserror::Error)]
enum PayError {
    #[error("declined")]
    Declined,
    #[error(transparent)]
    Idem(#[from] idem::Error),
}

impl PayError {
    fn is_final(&self) -> bool {
        matches!(self, Self::Declined)
    }
}

#[idempotent(key = id, keep = PayError::is_final)]
async fn charge(id: u8) -> Result<u8, PayError> {
    Ok(id)
}

fn main() {}

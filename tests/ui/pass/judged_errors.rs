use idem::{Engine, Error, ErrorKind, idempotent};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, thiserror::Error)]
enum PayError {
    #[error("timeout")]
    Timeout,
    #[error("declined")]
    Declined(u32),
    #[error("malformed")]
    Malformed,
    #[error(transparent)]
    #[serde(skip)]
    Idem(#[from] Error),
}

impl PayError {
    fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout)
    }

    fn kind(&self) -> Option<ErrorKind> {
        if let Self::Idem(error) = self { Some(error.kind()) } else { None }
    }
}

mod errors {
    pub fn is_final(error: &super::PayError) -> bool {
        matches!(error, super::PayError::Declined(_))
    }
}

fn is_malformed(error: &PayError) -> bool {
    matches!(error, PayError::Malformed)
}

#[idempotent(key = id, skip(answer), hold = PayError::is_timeout, keep = errors::is_final, reject = is_malformed)]
async fn pay(id: u8, cents: u32, answer: Result<u32, PayError>) -> Result<u32, PayError> {
    answer
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    idem::with_engine(Engine::in_memory(), async {
        assert!(matches!(pay(1, 5, Err(PayError::Declined(7))).await, Err(PayError::Declined(7))));
        assert!(matches!(pay(1, 5, Ok(1)).await, Err(PayError::Declined(7))));

        assert!(matches!(pay(2, 5, Err(PayError::Timeout)).await, Err(PayError::Timeout)));
        assert_eq!(pay(2, 5, Ok(1)).await.unwrap_err().kind(), Some(ErrorKind::Uncertain));

        assert!(matches!(pay(3, 5, Err(PayError::Malformed)).await, Err(PayError::Malformed)));
        assert_eq!(pay(3, 6, Ok(1)).await.unwrap(), 1);
        assert_eq!(pay(3, 5, Ok(1)).await.unwrap_err().kind(), Some(ErrorKind::Mismatch));
    })
    .await;
}

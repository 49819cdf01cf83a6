//! Errors of a body that are told apart: kept, held, or let go.

use idem::{Engine, Error, ErrorKind};
use serde::{Deserialize, Serialize};

use crate::support::{Runs, engine, server, value};

const KEY: &str = "idem:{pay::k}";

#[derive(Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
enum PayError {
    #[error("declined with code {0}")]
    Declined(u32),
    #[error("the provider did not answer")]
    Timeout,
    #[error("busy")]
    Busy,
    #[error("idem: {0:?}")]
    Idem(#[serde(skip)] Option<()>),
}

impl From<Error> for PayError {
    fn from(error: Error) -> Self {
        assert_eq!(error.kind(), ErrorKind::Uncertain, "the only one of these stories");
        Self::Idem(None)
    }
}

impl PayError {
    fn is_final(&self) -> bool {
        matches!(self, Self::Declined(_))
    }

    fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout)
    }
}

async fn pay(engine: &Engine, runs: &Runs, answer: Result<u32, PayError>) -> Result<u32, PayError> {
    let call = engine.operation("pay").key("k").fingerprint(&());
    let judged = call.keep(PayError::is_final).hold(PayError::is_timeout);
    judged
        .run(async |_| {
            runs.add();
            answer
        })
        .await
}

/// Case O-15, its chosen half: errors of one class are kept and replayed as what they were, others are not.
#[tokio::test]
async fn a_final_error_is_replayed_and_a_passing_one_runs_again() {
    let server = server();
    let (engine, runs) = (engine(&server), Runs::default());
    assert_eq!(pay(&engine, &runs, Err(PayError::Busy)).await, Err(PayError::Busy));
    assert!(value(&server, KEY).unwrap().starts_with(b"1R"));
    assert_eq!(pay(&engine, &runs, Err(PayError::Declined(7))).await, Err(PayError::Declined(7)));
    assert!(value(&server, KEY).unwrap().ends_with(br#"{"Declined":7}"#));
    for _ in 0..3 {
        assert_eq!(pay(&engine, &runs, Ok(1)).await, Err(PayError::Declined(7)));
    }
    assert_eq!(runs.count(), 2);
}

#[tokio::test]
async fn after_an_error_that_leaves_the_outcome_unknown_nothing_runs() {
    let server = server();
    let (engine, runs) = (engine(&server), Runs::default());
    assert_eq!(pay(&engine, &runs, Err(PayError::Timeout)).await, Err(PayError::Timeout));
    assert!(value(&server, KEY).unwrap().starts_with(b"1U"));
    assert_eq!(pay(&engine, &runs, Ok(1)).await, Err(PayError::Idem(None)));
    assert_eq!(runs.count(), 1);
}

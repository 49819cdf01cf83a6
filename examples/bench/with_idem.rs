//! The side of idem, as an application uses it: the attribute, and the installed engine.

use idem::{ErrorKind, idempotent};

use crate::effect::effect;
use crate::side::{Answer, Failure, Side};

#[idempotent(name = "bench.charge", key = order)]
pub(crate) async fn charge(order: &str, cents: u64) -> Result<String, idem::Error> {
    let _ = cents;
    Ok(effect(order).await)
}

#[derive(Clone)]
pub(crate) struct WithIdem;

impl Side for WithIdem {
    async fn call(&self, order: &str) -> Result<Answer, Failure> {
        match charge(order, 4200).await {
            Ok(receipt) => Ok(Answer::Result(receipt)),
            Err(error) if error.kind() == ErrorKind::InFlight => {
                Ok(Answer::Conflict(error.retry_after().unwrap_or_default()))
            }
            Err(error) => Err(error.into()),
        }
    }
}

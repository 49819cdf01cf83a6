//! The handler reads the request and writes the response. The function that it calls is the annotated one: what it
//! returns is kept, so it returns data and no response.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use idem::{Outcome, Seen, idempotent};
use serde::{Deserialize, Serialize};
use tokio::time::{error::Elapsed, sleep, timeout};

/// The amount that this gateway does not answer to.
pub(crate) const HANGS: u64 = 1300;

/// What charges, outside of idem.
#[derive(Debug, Default)]
pub(crate) struct Gateway {
    charges: AtomicU64,
}

impl Gateway {
    async fn charge(&self, cents: u64) -> u64 {
        let number = self.charges.fetch_add(1, SeqCst) + 1;
        if cents == HANGS {
            sleep(Duration::from_secs(3600)).await;
        }
        number
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct NewCharge {
    cents: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Receipt {
    charge: u64,
    cents: u64,
}

#[derive(Debug, thiserror::Error)]
enum ChargeError {
    #[error("unknown token")]
    Unauthorized,
    #[error("the gateway did not answer")]
    Timeout(#[from] Elapsed),
    #[error(transparent)]
    Idem(#[from] idem::Error),
}

impl ChargeError {
    /// After these nobody knows whether the gateway charged. Where it can be asked, write `recover` as well.
    fn is_unknown(&self) -> bool {
        matches!(self, Self::Timeout(_))
    }
}

// A header that is missing is a key that is `None`, which is refused before anything is sent.
#[idempotent(
    name = "payments.charge",
    scope = tenant,
    key = idempotency_key,
    skip(gateway),
    hold = ChargeError::is_unknown,
)]
async fn charge(
    gateway: &Gateway,
    tenant: &str,
    idempotency_key: Option<&str>,
    request: NewCharge,
) -> Result<Outcome<Receipt>, ChargeError> {
    let charge = timeout(Duration::from_secs(1), gateway.charge(request.cents)).await?;
    Ok(Receipt { charge, cents: request.cents }.into())
}

pub(crate) fn router(gateway: Arc<Gateway>) -> Router {
    Router::new().route("/charges", post(post_charge)).with_state(gateway)
}

async fn post_charge(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    Json(request): Json<NewCharge>,
) -> Result<Response, ChargeError> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let tenant = text("authorization").and_then(tenant_of).ok_or(ChargeError::Unauthorized)?;

    let receipt = charge(&gateway, tenant, text("idempotency-key"), request).await?;
    let replayed = receipt.seen().is_some_and(Seen::is_replayed);
    Ok(([("idempotent-replayed", replayed.to_string())], Json(receipt.into_inner())).into_response())
}

/// A client may choose its key, but not its scope: that is whom its credentials belong to.
fn tenant_of(authorization: &str) -> Option<&str> {
    authorization.strip_prefix("Bearer token-of-")
}

impl IntoResponse for ChargeError {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::Unauthorized => 401,
            Self::Timeout(_) => 504,
            Self::Idem(error) => error.status(),
        };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, self.to_string()).into_response();
        if let Self::Idem(error) = self
            && let Some(after) = error.retry_after()
        {
            // Whole seconds, as HTTP has them. Of a conflict it is how long a crash would keep others out; a call that
            // lives ends sooner, and asking again is cheap.
            response.headers_mut().insert(header::RETRY_AFTER, after.as_secs().clamp(1, 5).into());
        }
        response
    }
}

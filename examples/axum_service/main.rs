//! An HTTP service whose clients may repeat a request: the `Idempotency-Key` header names the intent, the tenant is its
//! scope, and each error of idem's has a status of its own.
//!
//! ```text
//! cargo run --example axum_service                                     # in memory
//! REDIS_URL=redis://127.0.0.1:6379 cargo run --example axum_service    # twice: the second run finds the first one's results
//! ```
//!
//! `service.rs` is what a user of the library writes; this file plays the clients.
#![allow(clippy::print_stdout, reason = "an example shows what happened")]

mod service;

use std::error::Error;
use std::fmt::Write;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, header};
use idem::{Engine, RedisStore};
use tower::ServiceExt;

use crate::service::{Gateway, HANGS, router};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    idem::install(match std::env::var("REDIS_URL") {
        Ok(url) => Engine::new(RedisStore::from_url(&url)?),
        Err(_) => Engine::in_memory(),
    })?;
    let service = router(Arc::new(Gateway::default()));
    let client = async |what: &str, tenant: &str, key: Option<&str>, cents: u64| {
        let answer = post(&service, tenant, key, cents).await?;
        println!("{what}: {answer}");
        Ok::<_, Box<dyn Error + Send + Sync>>(())
    };

    client("a first request", "acme", Some("k-1"), 4200).await?;
    client("its repeat", "acme", Some("k-1"), 4200).await?;
    client("the same key, another amount", "acme", Some("k-1"), 9900).await?;
    client("the same key, another tenant", "globex", Some("k-1"), 9900).await?;
    client("without a key", "acme", None, 4200).await?;

    // Both at once, and the gateway never answers: one call runs into its time-out, the other meets it in flight.
    let (one, other) =
        tokio::join!(post(&service, "acme", Some("k-2"), HANGS), post(&service, "acme", Some("k-2"), HANGS));
    let mut answers = [one?, other?];
    answers.sort();
    println!("two at once, the first: {}", answers[1]);
    println!("two at once, the second: {}", answers[0]);
    client("a repeat after the time-out", "acme", Some("k-2"), HANGS).await
}

/// The answer to one request, in a line.
async fn post(
    service: &Router,
    tenant: &str,
    key: Option<&str>,
    cents: u64,
) -> Result<String, Box<dyn Error + Send + Sync>> {
    let mut request = Request::post("/charges")
        .header(header::AUTHORIZATION, format!("Bearer token-of-{tenant}"))
        .header(header::CONTENT_TYPE, "application/json");
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    let request = request.body(Body::from(format!(r#"{{"cents":{cents}}}"#)))?;
    let response = service.clone().oneshot(request).await?;

    let mut answer = response.status().as_u16().to_string();
    for name in ["idempotent-replayed", "retry-after"] {
        if let Some(value) = response.headers().get(name) {
            write!(answer, " ({name}: {})", value.to_str()?)?;
        }
    }
    let body = to_bytes(response.into_body(), 4096).await?;
    Ok(format!("{answer} {}", String::from_utf8_lossy(&body)))
}

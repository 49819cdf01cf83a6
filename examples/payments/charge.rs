//! The service: one annotated function.

use idem::{Attempt, Outcome, idempotent};
use serde::{Deserialize, Serialize};

use crate::gateway::{Gateway, GatewayError};
use crate::ledger::Entry;

/// What a customer wants to be charged for, once. Its id was made where the order was placed and comes with every repeat.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) id: String,
    pub(crate) amount_cents: u64,
}

/// What the customer gets, the same however often the message comes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Receipt {
    pub(crate) order: String,
    pub(crate) amount_cents: u64,
    /// The process that charged; a replayed receipt still names the one that did.
    pub(crate) charged_by: u32,
}

/// Why there is no receipt.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChargeError {
    /// The charge itself failed. Nothing of that is kept: the next delivery runs.
    #[error(transparent)]
    Gateway(#[from] GatewayError),
    /// The charge did not run, or its result cannot be given.
    #[error(transparent)]
    Idem(#[from] idem::Error),
}

/// Charges an order, effectively once.
///
/// The first call for `order.id` runs the body; repeats get its receipt. The gateway is no part of what the customer
/// wants, so it is skipped; the rest of the order is compared: the same id with another amount is refused.
#[idempotent(name = "payments.charge", key = order.id, skip(gateway))]
pub(crate) async fn charge(gateway: &Gateway, order: &Order) -> Result<Outcome<Receipt>, ChargeError> {
    let attempt = Attempt::current();
    gateway
        .charge(Entry {
            order: order.id.clone(),
            amount_cents: order.amount_cents,
            attempt: attempt.number(),
            // An earlier attempt died and may have charged. Here the charge is repeated and marked, for somebody to settle;
            // a service that must not repeat would first ask the gateway what it knows of this order.
            takeover: attempt.is_takeover(),
            worker: std::process::id(),
        })
        .await?;
    let receipt = Receipt { order: order.id.clone(), amount_cents: order.amount_cents, charged_by: std::process::id() };
    Ok(receipt.into())
}

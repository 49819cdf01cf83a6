//! The service's operations beside the charge: each with the policy that suits it.

use std::time::Duration;

use idem::{OnConflict, OnCrash, OnOutage, Policy, idempotent};

use crate::charge::Order;

/// Why an operation has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServiceError {
    #[error("the bank did not answer in time")]
    Timeout,
    #[error(transparent)]
    Idem(#[from] idem::Error),
}

impl ServiceError {
    fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout)
    }
}

/// The other side, as one call finds it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bank {
    pub(crate) latency: Duration,
    pub(crate) answers: bool,
}

impl Bank {
    pub(crate) const QUICK: Self = Self { latency: Duration::from_millis(10), answers: true };

    async fn transfer(self) -> Result<(), ServiceError> {
        tokio::time::sleep(self.latency).await;
        if self.answers { Ok(()) } else { Err(ServiceError::Timeout) }
    }
}

/// Money that left and did not arrive is worse than money that leaves late: nothing runs again until a person has looked.
const CAREFUL: Policy =
    Policy::new().lease(Duration::from_secs(2)).retention(super::shop::RETENTION).on_crash(OnCrash::Refuse).valid();

#[idempotent(name = "payments.payout", key = order.id, skip(bank), policy = CAREFUL, hold = ServiceError::is_timeout)]
pub(crate) async fn pay_out(bank: Bank, order: &Order) -> Result<u64, ServiceError> {
    bank.transfer().await?;
    Ok(order.amount_cents)
}

/// A customer who presses the button twice waits for the first answer.
const PATIENT: Policy =
    Policy::new().retention(super::shop::RETENTION).on_conflict(OnConflict::Wait(Duration::from_secs(5))).valid();

#[idempotent(name = "mail.receipt", key = order.id, skip(took), policy = PATIENT)]
pub(crate) async fn mail_receipt(took: Duration, order: &Order) -> Result<String, ServiceError> {
    tokio::time::sleep(took).await;
    Ok(format!("receipt for {}", order.id))
}

/// A second quote harms nobody; none at all loses a customer.
const ALWAYS: Policy = Policy::new().retention(super::shop::RETENTION).on_outage(OnOutage::RunUnprotected).valid();

#[idempotent(name = "shop.quote", key = order.id, policy = ALWAYS)]
pub(crate) async fn quote(order: &Order) -> Result<u64, ServiceError> {
    Ok(order.amount_cents)
}

/// An export that takes longer than this hangs, and is followed by another one.
const IMPATIENT: Policy = Policy::new()
    .lease(Duration::from_millis(500))
    .retention(super::shop::RETENTION)
    .max_run(Duration::from_millis(200))
    .valid();

#[idempotent(name = "reports.export", key = order.id, skip(took), policy = IMPATIENT)]
pub(crate) async fn export(took: Duration, order: &Order) -> Result<u64, ServiceError> {
    tokio::time::sleep(took).await;
    Ok(order.amount_cents)
}

//! What customers do.

use std::sync::Arc;
use std::time::Duration;

use idem::Operation;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::cause::Cause;
use super::outage;
use super::service::{Bank, mail_receipt, pay_out, quote};
use super::shop::Shop;
use crate::charge::Order;
use crate::error::Error;
use crate::gateway::Faults;

/// A steady load in which nothing goes wrong that an alert is for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    /// Orders per second.
    pub(super) rate: u32,
    /// Whether senders repeat what was answered.
    pub(super) repeats: bool,
}

impl Load {
    pub(super) fn start(self, shop: &Arc<Shop>) {
        let shop = Arc::clone(shop);
        tokio::spawn(async move {
            let mut orders = interval(Duration::from_secs(1) / self.rate);
            // After an outage the orders of that time do not come all at once.
            orders.set_missed_tick_behavior(MissedTickBehavior::Skip);
            loop {
                orders.tick().await;
                let (shop, kind) = (Arc::clone(&shop), rand::random_range(0..100));
                tokio::spawn(async move { self.serve(&shop, kind).await });
            }
        });
    }

    /// One order, of one kind in a hundred. Errors are in the metrics, which is what this is about.
    async fn serve(self, shop: &Shop, kind: u32) {
        let order = shop.order();
        match kind {
            0..55 => self.send(shop, &order, Sent::Charge).await,
            // Of charges one in twenty is declined at first.
            55..58 => {
                declined_charge(shop, &order).await;
                self.send(shop, &order, Sent::Charge).await;
            }
            // Two at a time: one of them is refused, and comes back.
            58..61 if self.repeats => {
                tokio::join!(slow_charge(shop, &order, 30), slow_charge(shop, &order, 30));
                quick_charge(shop, &order).await;
            }
            61..75 => self.send(shop, &order, Sent::Payout).await,
            75..88 => self.send(shop, &order, Sent::Quote).await,
            _ if self.repeats => {
                let took = Duration::from_millis(100);
                // The second one waits for the first one's answer.
                let _ = tokio::join!(mail_receipt(took, &order), mail_receipt(took, &order));
            }
            _ => drop(mail_receipt(Duration::ZERO, &order).await),
        }
    }

    /// Once, and then up to twice more.
    async fn send(self, shop: &Shop, order: &Order, sent: Sent) {
        let repeats = if self.repeats { rand::random_range(0..=2) } else { 0 };
        for repeat in 0..=repeats {
            if repeat > 0 {
                sleep(Duration::from_millis(rand::random_range(1..500))).await;
            }
            match sent {
                Sent::Charge => quick_charge(shop, order).await,
                Sent::Payout => drop(pay_out(Bank::QUICK, order).await),
                Sent::Quote => drop(quote(order).await),
            }
        }
    }
}

/// What a customer sends.
#[derive(Debug, Clone, Copy)]
enum Sent {
    Charge,
    Payout,
    Quote,
}

/// What goes wrong on bad days, each of it now and then, and somebody who settles what is unknown.
pub(super) fn start_bad_days(shop: &Arc<Shop>) {
    for (cause, pause) in [
        (Cause::Retries, 500),
        (Cause::Conflicts, 2_000),
        (Cause::Mismatches, 5_000),
        (Cause::Takeovers, 15_000),
        (Cause::LeasesLost, 20_000),
        (Cause::Vanished, 20_000),
        (Cause::Unprotected, 30_000),
    ] {
        cause.start(shop, Duration::from_millis(pause));
    }
    let restarted = Arc::clone(shop);
    tokio::spawn(async move {
        loop {
            sleep(Duration::from_secs(40)).await;
            let _ = outage::restart(&restarted).await;
        }
    });
    let timeouts = Arc::clone(shop);
    tokio::spawn(async move {
        loop {
            let order = timeouts.order();
            let bank = Bank { answers: false, ..Bank::QUICK };
            // The repeat is told that the outcome is unknown.
            let _ = (pay_out(bank, &order).await, pay_out(Bank::QUICK, &order).await);
            sleep(Duration::from_secs(4)).await;
        }
    });
    let clerk = Arc::clone(shop);
    tokio::spawn(async move {
        loop {
            // A store that is down for a moment is asked again.
            let _ = settle(&clerk).await;
            sleep(Duration::from_secs(10)).await;
        }
    });
}

/// Asks the bank about payouts whose outcome is unknown; it says that the money arrived.
async fn settle(shop: &Shop) -> Result<(), Error> {
    let old = Duration::from_secs(5);
    for found in shop.engine.unsettled("payments.payout", old).await.map_err(Error::setup)? {
        let idem::store::InspectReply::Known(known) = found.reply else { continue };
        let Some(operation) = Operation::from_text(&found.text) else { continue };
        shop.engine.settle(&operation, known.fence).completed(&0_u64).await.map_err(Error::setup)?;
    }
    Ok(())
}

const LATENCY_MS: u64 = 5;

/// A charge that takes long enough for others to meet it.
pub(super) async fn slow_charge(shop: &Shop, order: &Order, latency_ms: u64) {
    let _ = shop.charge(order, Faults { latency_ms, ..Faults::default() }).await;
}

pub(super) async fn declined_charge(shop: &Shop, order: &Order) {
    let _ = shop.charge(order, Faults { latency_ms: LATENCY_MS, decline: true, ..Faults::default() }).await;
}

pub(super) async fn quick_charge(shop: &Shop, order: &Order) {
    slow_charge(shop, order, LATENCY_MS).await;
}

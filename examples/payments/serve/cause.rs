//! What each alert of `dashboards/prometheus/alerts.yml` is there for, under the alert's own name.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::time::sleep;

use super::load::{declined_charge, quick_charge, slow_charge};
use super::service::{Bank, export, pay_out};
use super::shop::Shop;
use super::{crash, outage};
use crate::charge::Order;
use crate::error::Error;
use crate::out::Out;

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Cause {
    /// Every sender makes a new key for each try
    DuplicatesZero,
    /// A queue that stood for most of a day is worked off
    DuplicateAge,
    /// Many charges fail at first
    Retries,
    /// Senders repeat while the work is done
    Conflicts,
    /// Keys are used again with other arguments
    Mismatches,
    /// A deploy changed the type of a result
    Undecodable,
    /// Workers are killed inside a charge
    Takeovers,
    /// A payout died ten minutes ago, and nobody asked for it
    Unsettled,
    /// Exports take longer than they may
    LeasesLost,
    /// The store goes away while bodies run
    Unrecorded,
    /// The server loses records
    Vanished,
    /// The server is restarted
    StoreEpochs,
    /// The store cannot be reached, again and again
    StoreErrors,
    /// The same, and an operation that runs all the same
    Unprotected,
    /// Bodies block the only thread
    KeeperLag,
}

impl Cause {
    /// Makes it happen again and again, with its own pause and `more` between two times, and `more` before the first.
    pub(super) fn start(self, shop: &Arc<Shop>, more: Duration) {
        let shop = Arc::clone(shop);
        tokio::spawn(async move {
            sleep(more).await;
            loop {
                if let Err(error) = self.happen(&shop).await {
                    Out::Stderr.line(format_args!("payments: {self:?}: {error}"));
                }
                sleep(self.pause() + more).await;
            }
        });
    }

    fn pause(self) -> Duration {
        Duration::from_millis(match self {
            Self::Retries | Self::Conflicts | Self::DuplicateAge => 100,
            // Its next one must be there before the keeper has looked in vain.
            Self::KeeperLag => 1,
            // Once is enough: it stays.
            Self::Unsettled => 3_600_000,
            _ => 500,
        })
    }

    async fn happen(self, shop: &Arc<Shop>) -> Result<(), Error> {
        let order = shop.order();
        match self {
            // The load itself is without repeats.
            Self::DuplicatesZero => {}
            Self::DuplicateAge => {
                quick_charge(shop, &order).await;
                shop.backdate(CHARGE, &order, Duration::from_secs(20 * 3600)).await?;
                quick_charge(shop, &order).await;
            }
            Self::Retries => {
                declined_charge(shop, &order).await;
                quick_charge(shop, &order).await;
            }
            Self::Conflicts => {
                let call = || slow_charge(shop, &order, 100);
                tokio::join!(call(), call(), call(), call());
            }
            Self::Mismatches => {
                quick_charge(shop, &order).await;
                quick_charge(shop, &Order { amount_cents: order.amount_cents * 10, ..order }).await;
            }
            Self::Undecodable => {
                quick_charge(shop, &order).await;
                shop.spoil(CHARGE, &order).await?;
                quick_charge(shop, &order).await;
            }
            Self::Takeovers => crash::kill_and_redeliver(shop, order).await?,
            Self::Unsettled => {
                let hangs = Bank { latency: Duration::from_secs(60), ..Bank::QUICK };
                // Its caller goes away, and with it all that was known.
                let _ = tokio::time::timeout(Duration::from_millis(200), pay_out(hangs, &order)).await;
                shop.backdate("payments.payout", &order, Duration::from_secs(600)).await?;
            }
            Self::LeasesLost => {
                let second = async {
                    sleep(Duration::from_millis(900)).await;
                    export(Duration::ZERO, &order).await
                };
                let _ = tokio::join!(export(Duration::from_millis(1500), &order), second);
            }
            Self::Vanished => {
                let lost = async {
                    sleep(Duration::from_millis(200)).await;
                    shop.lose(CHARGE, &order).await
                };
                tokio::join!(slow_charge(shop, &order, 200), lost).1?;
            }
            Self::StoreEpochs => outage::restart(shop).await?,
            Self::StoreErrors => outage::brief(shop).await,
            Self::Unprotected => outage::with_quotes(shop).await,
            Self::Unrecorded => outage::inside_a_charge(shop, &order).await,
            Self::KeeperLag => block(shop, &order).await?,
        }
        Ok(())
    }
}

const CHARGE: &str = "payments.charge";

/// Computes where it should wait: nothing else runs on this thread meanwhile.
async fn block(shop: &Shop, order: &Order) -> Result<(), Error> {
    let blocking = shop.engine.operation("reports.sum").key(order.id.as_str());
    let summed = blocking.run(async |_| -> Result<(), idem::Error> {
        thread::sleep(super::shop::LEASE + Duration::from_secs(3));
        Ok(())
    });
    summed.await.or_else(|error| if error.is_retryable() { Ok(()) } else { Err(Error::setup(error)) })
}

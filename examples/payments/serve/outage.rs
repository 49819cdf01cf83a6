//! Stores that are not there, or not the same any more.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{interval, sleep};

use super::load::{quick_charge, slow_charge};
use super::service::quote;
use super::shop::{LEASE, Shop};
use crate::charge::Order;
use crate::error::Error;

const BRIEF: Duration = Duration::from_millis(500);

/// Long enough for a Prometheus to have seen the service before.
const BEFORE_RESTART: Duration = Duration::from_secs(20);

/// A restart in good order: nothing is lost, which from outside nobody can tell.
pub(super) async fn restart(shop: &Arc<Shop>) -> Result<(), Error> {
    sleep(BEFORE_RESTART).await;
    let server = Arc::clone(&shop.server);
    tokio::task::spawn_blocking(move || server.restart()).await.map_err(Error::setup)??;
    // Whoever asks first after it sees that it is another run.
    quick_charge(shop, &shop.order()).await;
    Ok(())
}

pub(super) async fn brief(shop: &Shop) {
    let _outage = shop.outage();
    let order = shop.order();
    tokio::join!(quick_charge(shop, &order), sleep(BRIEF));
}

pub(super) async fn with_quotes(shop: &Shop) {
    let _outage = shop.outage();
    let mut customers = interval(BRIEF / 5);
    for _ in 0..5 {
        customers.tick().await;
        let _ = quote(&shop.order()).await;
    }
}

/// The claim goes through; then nothing does until the lease is over.
pub(super) async fn inside_a_charge(shop: &Shop, order: &Order) {
    let outage = async {
        sleep(Duration::from_millis(200)).await;
        let _outage = shop.outage();
        sleep(LEASE + 2 * Duration::from_secs(1)).await;
    };
    tokio::join!(slow_charge(shop, order, 200), outage);
}

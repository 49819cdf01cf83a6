//! Workers that die.

use std::sync::Arc;

use idem::ErrorKind;
use tokio::time::sleep;

use super::shop::Shop;
use crate::broker::Broker;
use crate::charge::{ChargeError, Order};
use crate::error::Error;
use crate::gateway::{Faults, Point};
use crate::out::Out;
use crate::process::Worker;

/// A worker is killed after the money moved; the order is delivered again, to this process, until it is charged.
pub(super) async fn kill_and_redeliver(shop: &Arc<Shop>, order: Order) -> Result<(), Error> {
    let (setup, doomed) = (shop.setup(), order.clone());
    let killed = tokio::task::spawn_blocking(move || {
        let worker = Worker::start(&setup)?;
        Broker::new(Out::Nowhere).deliver_and_kill(worker, &doomed, Point::AfterEffect)
    });
    killed.await.map_err(Error::setup)??;
    loop {
        match shop.charge(&order, Faults::default()).await {
            Err(ChargeError::Idem(error)) if error.kind() == ErrorKind::InFlight => {
                sleep(error.retry_after().unwrap_or_default()).await;
            }
            _ => return Ok(()),
        }
    }
}

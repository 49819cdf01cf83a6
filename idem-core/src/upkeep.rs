//! What people and jobs do about records: look at them, settle an outcome that nobody knows, free a key.

use std::borrow::Cow;
use std::future::Future;
use std::time::Duration;

use serde::Serialize;

use crate::engine::Engine;
use crate::error::{Error, Failure};
use crate::operation::Operation;
use crate::policy::{self, Policy};
use crate::record::{Ending, Fence, Kept};
use crate::store::{Forget, ForgetReply, Found, InspectReply, Settle, SettleReply, Settlement, StoreError, Survey};

impl Engine {
    /// Tells what is known of an identity.
    ///
    /// # Errors
    ///
    /// [`Store`](crate::ErrorKind::Store), if there is no clear answer.
    pub async fn inspect(&self, operation: &Operation) -> Result<InspectReply, Error> {
        self.tend(operation.shared_name(), "inspect", self.store().inspect(operation)).await
    }

    /// Settles an attempt whose outcome nobody knows: what a person or a job found out about it. `fence` names the attempt
    /// that was looked at, as [`Error::fence`] or [`Engine::inspect`] told; another one that came since is not touched.
    ///
    /// ```
    /// use idem_core::store::SettleReply;
    /// # use idem_core::{Engine, Error, Fence, Operation};
    /// # async fn after_looking_it_up(engine: &Engine, charge: &Operation, fence: Fence) -> Result<(), Error> {
    /// // The payment provider says that the charge went through: repeats get its receipt from now on.
    /// match engine.settle(charge, fence).completed(&"receipt-7").await? {
    ///     SettleReply::Settled => {}
    ///     other => eprintln!("not settled: {other:?}"),
    /// }
    /// # Ok(()) }
    /// ```
    pub fn settle<'a>(&'a self, operation: &'a Operation, fence: Fence) -> Settling<'a> {
        Settling { engine: self, operation, fence, retention: self.policy().retention_millis() }
    }

    /// Frees an identity for another run: deletes a settled record, so that any arguments may follow; makes an unsettled one
    /// a released one, so that attempt and fence go on rising. `fence` names the attempt that was looked at.
    ///
    /// A claim that is held is left alone unless `force` is set; then its body is cancelled when it hears of that, and may
    /// have its effect beside the next one's.
    ///
    /// # Errors
    ///
    /// [`Store`](crate::ErrorKind::Store), if there is no clear answer.
    pub async fn forget(&self, operation: &Operation, fence: Fence, force: bool) -> Result<ForgetReply, Error> {
        let retention = self.policy().linger_millis(true);
        let request = Forget { operation: operation.clone(), fence, force, retention };
        self.tend(operation.shared_name(), "forget", self.store().forget(&request)).await
    }

    /// Finds the records of the operation `name` whose outcome is unknown, and whose attempt began more than `older_than`
    /// ago. It goes through the whole store (on Redis, the database), a bounded part at a time, which holds nobody up for
    /// long; and it is no snapshot: what changes meanwhile may be missed or come twice.
    ///
    /// # Errors
    ///
    /// [`Store`](crate::ErrorKind::Store), if there is no clear answer.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # async fn nightly(engine: &idem_core::Engine) -> Result<(), idem_core::Error> {
    /// for found in engine.unsettled("payments.charge", Duration::from_secs(300)).await? {
    ///     println!("to be settled: {}", found.text);
    /// }
    /// # Ok(()) }
    /// ```
    pub async fn unsettled(
        &self,
        name: impl Into<Cow<'static, str>>,
        older_than: Duration,
    ) -> Result<Vec<Found>, Error> {
        let name = name.into();
        let mut survey = Survey { name: Some(name.clone()), from: None };
        let mut unsettled = Vec::new();
        loop {
            let page = self.tend(name.clone(), "survey", self.store().survey(&survey)).await?;
            unsettled.extend(page.found.into_iter().filter(|found| is_unsettled(found, older_than)));
            match page.next {
                Some(next) => survey.from = Some(next),
                None => return Ok(unsettled),
            }
        }
    }

    /// Asks the store what `verb` asks, once.
    async fn tend<R>(
        &self,
        operation: Cow<'static, str>,
        verb: &'static str,
        answer: impl Future<Output = Result<R, StoreError>>,
    ) -> Result<R, Error> {
        let instruments = self.instruments(operation.clone());
        let answer = self.bounded(instruments.store(), verb, self.store_bound(), answer).await;
        answer.map_err(|error| {
            instruments.store_error(verb, &error);
            Error::new(Some(operation), Failure::Upkeep(error))
        })
    }
}

fn is_unsettled(found: &Found, older_than: Duration) -> bool {
    matches!(found.reply, InspectReply::Known(known) if known.is_unsettled() && known.age() >= older_than)
}

/// A settlement that lacks the outcome; made by [`Engine::settle`].
#[must_use = "nothing is settled until the outcome is told"]
#[derive(Debug)]
pub struct Settling<'a> {
    engine: &'a Engine,
    operation: &'a Operation,
    fence: Fence,
    retention: u64,
}

impl Settling<'_> {
    /// How long the settled record answers repeats: from 1 ms to ten years. Default: the retention of the engine's policy.
    pub fn retention(mut self, retention: Duration) -> Self {
        self.retention = policy::millis(retention.min(Policy::MAX_DURATION)).max(1);
        self
    }

    /// It had its effect: repeats get `value`, which must be what the operation returns in its `Ok`.
    ///
    /// # Errors
    ///
    /// [`Store`](crate::ErrorKind::Store), if there is no clear answer; [`ResultNotKept`](crate::ErrorKind::ResultNotKept)
    /// if the value cannot be kept.
    pub async fn completed<T: Serialize + ?Sized>(self, value: &T) -> Result<SettleReply, Error> {
        self.ended(Ending::Completed, value).await
    }

    /// It failed for good: repeats get `error`, which must be one that the operation keeps.
    ///
    /// # Errors
    ///
    /// As of [`completed`](Self::completed).
    pub async fn failed<E: Serialize + ?Sized>(self, error: &E) -> Result<SettleReply, Error> {
        self.ended(Ending::Failed, error).await
    }

    /// It had no effect, or one that may happen again: the next call runs.
    ///
    /// # Errors
    ///
    /// [`Store`](crate::ErrorKind::Store), if there is no clear answer.
    pub async fn run_again(self) -> Result<SettleReply, Error> {
        self.send(Settlement::RunAgain).await
    }

    async fn ended<T: Serialize + ?Sized>(self, ending: Ending, result: &T) -> Result<SettleReply, Error> {
        let codec = self.engine.codec();
        let encoded = codec.encode(result, self.engine.policy().max_result_bytes());
        let Ok(payload) = encoded else {
            return Err(Error::new(Some(self.operation.shared_name()), Failure::ResultNotKept));
        };
        self.send(Settlement::Ended(ending, Kept { codec: Some(codec), payload: payload.into(), trace: None })).await
    }

    async fn send(self, settlement: Settlement) -> Result<SettleReply, Error> {
        let Self { engine, operation, fence, retention } = self;
        // That an attempt ended without an answer is remembered as long as it would have been without a person.
        let retention = match settlement {
            Settlement::RunAgain => engine.policy().linger_millis(true).max(retention),
            Settlement::Ended(..) => retention,
        };
        let request = Settle { operation: operation.clone(), fence, settlement, retention };
        engine.tend(operation.shared_name(), "settle", engine.store().settle(&request)).await
    }
}

//! What a body can see of its own attempt.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::claim::Claimed;
use crate::lease::Loss;
use crate::record::Fence;

tokio::task_local! {
    static CURRENT: Attempt;
}

/// The attempt that a body belongs to. Cheap to clone, and can be taken along into a spawned task.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), idem_core::Error> {
/// let engine = idem_core::Engine::in_memory();
/// engine.operation("mail.welcome").key("user-7").fingerprint(&()).run(async |attempt| {
///     if attempt.is_takeover() {
///         // An earlier attempt crashed: its mail may have been sent.
///     }
///     Ok::<_, idem_core::Error>(())
/// }).await
/// # }
/// ```
#[derive(Clone)]
pub struct Attempt(Arc<Claimed>);

impl Attempt {
    pub(crate) fn new(claim: Arc<Claimed>) -> Self {
        Self(claim)
    }

    /// The attempt of the body that runs now.
    ///
    /// # Panics
    ///
    /// Outside the body of an idempotent operation: in a spawned task, say, which does not inherit it.
    #[must_use]
    pub fn current() -> Self {
        Self::try_current().expect("no attempt: not called from the body of an idempotent operation")
    }

    /// The attempt of the body that runs now, or `None` outside any.
    #[must_use]
    pub fn try_current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }

    /// 1 for the first claim of the identity, one more for each later one.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.0.grant().attempt
    }

    /// Whether a claim keeps others out while the body runs. Only under [`OnOutage::RunUnprotected`](crate::OnOutage) it may
    /// not be so; the attempt's number is 0 then.
    #[must_use]
    pub fn is_protected(&self) -> bool {
        self.0.is_protected()
    }

    /// Rises with each claim of the identity. A downstream store that keeps the highest one it has seen can refuse what a
    /// late owner sends.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.0.grant().fence
    }

    /// Whether an earlier attempt may have had its effect: its lease ran out without an answer and it was taken over or asked
    /// about, its error left the outcome unknown, or a person freed it. Once that happened it holds for every later attempt,
    /// until one completes.
    #[must_use]
    pub fn is_takeover(&self) -> bool {
        self.0.grant().origin.follows_takeover()
    }

    /// What is surely left of the lease, which is renewed while the body runs. Zero when it may be over.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.0.lease().remaining()
    }

    /// An idempotency key for what the body calls in turn, as a payment provider: the same for every attempt of this
    /// operation under this key, in every process, and another one for every other `downstream` and every other key. 32
    /// hexadecimal digits; they tell nothing of the key.
    ///
    /// A body that crashed after its effect runs again; a downstream service that knows this key answers with the effect it
    /// has already had.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), idem_core::Error> {
    /// # let engine = idem_core::Engine::in_memory();
    /// # let (order, cents) = ("order-1", 4200_u64);
    /// # struct Stripe;
    /// # impl Stripe { async fn charge(&self, key: &str, cents: u64) {} }
    /// # let stripe = Stripe;
    /// engine.operation("payments.charge").key(order).fingerprint(&cents).run(async |attempt| {
    ///     stripe.charge(&attempt.downstream_key("stripe"), cents).await;
    ///     Ok::<_, idem_core::Error>(())
    /// }).await
    /// # }
    /// ```
    #[must_use]
    pub fn downstream_key(&self, downstream: &str) -> String {
        let mut digest = blake3::Hasher::new_derive_key("idem 2026-11-30 downstream key");
        digest.update(self.0.request().operation.text().as_bytes());
        // In an identity's text there is no control character, so this is where it ends.
        digest.update(b"\0");
        digest.update(downstream.as_bytes());
        digest.finalize().to_hex()[..32].to_owned()
    }

    /// Waits until the lease is gone, or may be: for a body that can stop its work in order.
    ///
    /// By default a body is cancelled when another call has followed it, so what it can still see here is
    /// [`Loss::Doubtful`]; see [`Policy::on_lost`](crate::Policy::on_lost).
    ///
    /// # Cancellation
    ///
    /// Safe: nothing is missed by asking again.
    pub async fn lost(&self) -> Loss {
        self.0.lease().lost(Loss::Doubtful).await
    }

    /// What is known of a loss now.
    #[must_use]
    pub fn loss(&self) -> Option<Loss> {
        self.0.lease().loss()
    }

    /// Does something with this attempt as the current one.
    pub(crate) fn enter<T>(&self, something: impl FnOnce() -> T) -> T {
        CURRENT.sync_scope(self.clone(), something)
    }
}

/// The attempt of the body that runs now: short for [`Attempt::current`].
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), idem_core::Error> {
/// async fn charge() -> Result<u32, idem_core::Error> {
///     Ok(idem_core::attempt().number())
/// }
///
/// # let engine = idem_core::Engine::in_memory();
/// let number = engine.operation("payments.charge").key("order-1").fingerprint(&()).run(async |_| charge().await).await?;
/// assert_eq!(number, 1);
/// # Ok(()) }
/// ```
///
/// # Panics
///
/// Outside the body of an idempotent operation: in a spawned task, say, which does not inherit it.
#[must_use]
pub fn attempt() -> Attempt {
    Attempt::current()
}

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt").field("grant", self.0.grant()).field("lease", self.0.lease()).finish()
    }
}

//! The work itself, the same on both sides: nearly nothing, so that what is around it shows.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// Keys that begin so run until [`end_held`] is called.
const HELD: &str = "held";

static RUNS: AtomicU64 = AtomicU64::new(0);
static END: Notify = Notify::const_new();

/// Gives 36 characters.
pub(crate) async fn effect(order: &str) -> String {
    RUNS.fetch_add(1, Ordering::Relaxed);
    if order.starts_with(HELD) {
        END.notified().await;
    }
    receipt(order)
}

/// What `effect` gives for `order`.
pub(crate) fn receipt(order: &str) -> String {
    order.to_owned()
}

/// How often the effect has happened.
pub(crate) fn runs() -> u64 {
    RUNS.load(Ordering::Relaxed)
}

/// A key of 36 characters, as a UUID has.
pub(crate) fn key(round: usize, caller: usize, number: usize) -> String {
    format!("{round:08x}-{caller:04x}-{number:022x}")
}

/// A key whose effect goes on until [`end_held`].
pub(crate) fn held_key() -> String {
    format!("{HELD}{:032}", 0)
}

/// Ends the one effect that is held now.
pub(crate) fn end_held() {
    END.notify_one();
}

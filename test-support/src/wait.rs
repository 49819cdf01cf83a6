//! Waiting by condition, never by a guessed pause.

use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at a condition. Short enough not to slow a test, long enough to leave the processor to what is awaited.
const PAUSE: Duration = Duration::from_millis(5);

/// Looks at `condition` until it holds or `limit` has passed; tells which. The condition is looked at once more after the limit, so that a slow
/// machine cannot turn a true condition into `false`.
#[must_use]
pub fn wait_until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < limit {
        if condition() {
            return true;
        }
        thread::sleep(PAUSE);
    }
    condition()
}

/// Waits until `condition` holds.
///
/// # Panics
/// When it does not within `limit`; the panic points at the caller. Choose a generous limit: it costs time only when the test fails.
#[track_caller]
pub fn expect_within(limit: Duration, condition: impl FnMut() -> bool) {
    assert!(wait_until(limit, condition), "the condition did not hold within {limit:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_as_soon_as_the_condition_holds() {
        let mut looks = 0;
        expect_within(Duration::from_secs(60), || {
            looks += 1;
            looks == 3
        });
        assert_eq!(looks, 3);
    }

    #[test]
    fn a_condition_true_at_the_limit_counts() {
        assert!(wait_until(Duration::ZERO, || true));
        assert!(!wait_until(Duration::ZERO, || false));
    }

    #[test]
    #[should_panic(expected = "did not hold within")]
    fn panics_when_it_never_holds() {
        expect_within(Duration::from_millis(10), || false);
    }
}

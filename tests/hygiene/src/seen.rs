//! What a user wrote is still seen: each of these lints has to fire, or clippy says that the expectation is unfulfilled.

use ::idem::{Error, idempotent};

#[expect(dead_code, reason = "nobody calls it")]
#[idempotent(key = id)]
async fn never_called(id: u64) -> Result<u64, Error> {
    Ok(id)
}

/// Its body has it all.
///
/// # Errors
///
/// Of idem.
#[idempotent(key = id, skip(log))]
pub async fn body(
    id: u64,
    #[expect(unused_variables)] log: &[u8],
    #[expect(unused_mut)] mut still: u64,
) -> Result<u64, Error> {
    #[expect(unused_variables)]
    let local = id;
    #[expect(unused_mut)]
    let mut same = still;
    #[expect(clippy::unnecessary_cast)]
    let cast = same as u64;
    #[expect(clippy::redundant_clone)]
    let text = String::from("x").clone();
    #[expect(clippy::len_zero)]
    let is_empty = text.len() == 0;
    drop((text, is_empty));
    #[expect(clippy::uninlined_format_args)]
    let shown = format!("{}", cast);
    #[expect(unused_must_use)]
    {
        helper(shown.len());
    }
    #[expect(deprecated)]
    old();
    #[expect(unreachable_code)]
    {
        return Ok(id);
        old_too();
    }
}

#[must_use]
const fn helper(length: usize) -> usize {
    length
}

#[deprecated]
const fn old() {}

const fn old_too() {}

#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[allow(clippy::too_many_arguments, clippy::many_single_char_names)]
#[idempotent(key = a)]
#[rustfmt::skip]
async fn ship(
    a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8, j: u8, k: u8, l: u8, m: u8, n: u8, o: u8, p: u8, q: u8,
) -> Result<u8, Error> {
    support::ran();
    Ok(a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q)
}

fn main() {
    support::runs_once(17, async || ship(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1).await);
}

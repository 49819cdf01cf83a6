#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[idempotent(key = (N, id[0]))]
async fn ship<const N: usize>(id: [u8; N]) -> Result<usize, Error>
where
    [u8; N]: serde::Serialize,
{
    support::ran();
    Ok(id.len() + N)
}

fn main() {
    support::runs_once(6, async || ship([1, 2, 3]).await);
}

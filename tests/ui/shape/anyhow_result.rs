#[path = "../support.rs"]
mod support;

use idem::idempotent;

#[idempotent(key = id)]
async fn ship(id: &str) -> anyhow::Result<u64> {
    support::ran();
    anyhow::ensure!(!id.is_empty(), "no id");
    Ok(id.parse()?)
}

fn main() {
    support::runs_once(7, async || ship("7").await);
}

#[path = "../support.rs"]
mod support;

use idem::idempotent;

#[derive(Debug, thiserror::Error)]
enum ShipError {
    #[error("no number")]
    Number(#[from] std::num::ParseIntError),
    #[error(transparent)]
    Idem(#[from] idem::Error),
}

#[idempotent(key = id)]
async fn ship(id: &str) -> Result<u64, ShipError> {
    support::ran();
    Ok(id.parse()?)
}

fn main() {
    support::runs_once(7, async || ship("7").await);
}

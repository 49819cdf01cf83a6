#[path = "../support.rs"]
mod support;

use idem::idempotent;

#[idempotent(key = id)]
async fn ship(id: &str) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
    support::ran();
    if id.is_empty() {
        return Err("no id".into());
    }
    match id.parse() {
        Ok(id) => Ok(id),
        Err(error) => Err(Box::new(error)),
    }
}

fn main() {
    support::runs_once(7, async || ship("7").await);
}

#[path = "../support.rs"]
mod support;

use idem::idempotent;

#[idempotent(key = (id.parse::<u64>()?, note.map(str::trim)))]
async fn ship(id: &str, note: Option<&str>) -> anyhow::Result<usize> {
    support::ran();
    Ok(id.len() + note.map_or(0, str::len))
}

fn main() {
    support::runs_once(2, async || ship("7", Some("x")).await);
}

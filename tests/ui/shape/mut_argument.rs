#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[idempotent(key = id, skip(log))]
async fn ship(mut id: u64, mut lines: Vec<u64>, log: &mut Vec<u64>) -> Result<u64, Error> {
    support::ran();
    id += 1;
    lines.push(id);
    log.extend(&lines);
    Ok(id)
}

fn main() {
    let mut log = Vec::new();
    support::runs_once(8, async || ship(7, vec![1], &mut log).await);
    assert_eq!(log, [1, 8]);
}

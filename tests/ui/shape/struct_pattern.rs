#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

struct Order {
    id: u64,
    lines: Vec<u64>,
    note: &'static str,
}

#[idempotent(key = id)]
async fn ship(Order { id, lines: parts, .. }: Order) -> Result<u64, Error> {
    support::ran();
    Ok(id + parts.iter().sum::<u64>())
}

fn main() {
    let order = |note| Order { id: 1, lines: vec![2, 3], note };
    support::runs_once(6, async || ship(order("a")).await);
    assert_eq!(order("b").note, "b");
}

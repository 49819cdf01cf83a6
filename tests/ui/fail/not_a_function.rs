use idem::idempotent;

#[idempotent(key = id)]
struct Order {
    id: u64,
}

fn main() {}

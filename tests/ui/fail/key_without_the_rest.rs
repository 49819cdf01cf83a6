use idem::idempotent;

struct Order {
    id: u64,
}

#[idempotent(key = order)]
async fn ship(order: Order) -> Result<u64, idem::Error> {
    Ok(order.id)
}

fn main() {}

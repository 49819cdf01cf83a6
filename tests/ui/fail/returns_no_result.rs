use idem::idempotent;

#[idempotent(key = order_id)]
async fn ship(order_id: u64) -> Option<u64> {
    Some(order_id)
}

fn main() {}

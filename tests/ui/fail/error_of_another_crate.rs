use idem::idempotent;

#[idempotent(key = order_id)]
async fn ship(order_id: u64) -> std::io::Result<u64> {
    Ok(order_id)
}

fn main() {}

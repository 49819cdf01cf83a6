use idem::idempotent;

#[idempotent(key = "order-{order_id}")]
async fn ship(order_id: u64, parts: u8) -> Result<u8, idem::Error> {
    Ok(parts)
}

fn main() {}

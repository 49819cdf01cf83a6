use idem::idempotent;

#[idempotent(key = order_id, key = part)]
async fn ship(order_id: u64, part: u8) -> Result<u8, idem::Error> {
    Ok(part)
}

fn main() {}

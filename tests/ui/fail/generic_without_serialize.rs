use idem::idempotent;

#[idempotent(key = order_id)]
async fn ship(order_id: u64, parts: impl IntoIterator<Item = u8>) -> Result<u8, idem::Error> {
    Ok(parts.into_iter().sum())
}

fn main() {}

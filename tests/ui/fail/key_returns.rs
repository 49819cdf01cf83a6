use idem::idempotent;

#[idempotent(key = match order_id { Some(id) => id, None => return Ok(0) })]
async fn ship(order_id: Option<u64>) -> Result<u64, idem::Error> {
    Ok(order_id.unwrap_or_default())
}

fn main() {}

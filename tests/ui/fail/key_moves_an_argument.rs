use idem::idempotent;

#[idempotent(key = order_id.into_bytes().len())]
async fn ship(order_id: String) -> Result<String, idem::Error> {
    Ok(order_id)
}

fn main() {}

use idem::idempotent;

#[idempotent(key = order_id)]
async fn label(order_id: &str) -> Result<&str, idem::Error> {
    Ok(order_id)
}

fn main() {}

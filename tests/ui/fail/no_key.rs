use idem::idempotent;

#[idempotent]
async fn ship(order_id: u64) -> Result<u64, idem::Error> {
    Ok(order_id)
}

fn main() {}

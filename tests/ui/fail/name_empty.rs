use idem::idempotent;

#[idempotent(name = "", key = order_id)]
async fn ship(order_id: u64) -> Result<u64, idem::Error> {
    Ok(order_id)
}

fn main() {}

use idem::idempotent;

struct Gateway;

#[idempotent(key = order_id, skip(gateway), skip_all)]
async fn ship(gateway: &Gateway, order_id: u64) -> Result<u64, idem::Error> {
    Ok(order_id)
}

fn main() {}

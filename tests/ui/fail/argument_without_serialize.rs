use idem::idempotent;

struct Gateway;

#[idempotent(key = order_id)]
async fn ship(gateway: &Gateway, order_id: u64) -> Result<u64, idem::Error> {
    let _ = gateway;
    Ok(order_id)
}

fn main() {}

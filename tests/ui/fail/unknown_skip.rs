use idem::idempotent;

struct Gateway;

#[idempotent(key = order_id, skip(gateway))]
async fn ship(order_id: u64, gw: &Gateway) -> Result<u64, idem::Error> {
    Ok(order_id)
}

fn main() {}

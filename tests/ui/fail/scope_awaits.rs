use idem::idempotent;

async fn tenant_of(order_id: u64) -> u64 {
    order_id
}

#[idempotent(key = order_id, scope = tenant_of(order_id).await)]
async fn ship(order_id: u64) -> Result<u64, idem::Error> {
    Ok(order_id)
}

fn main() {}

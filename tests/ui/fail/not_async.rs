use idem::idempotent;

#[idempotent(key = order_id)]
fn ship(order_id: u64) -> Result<(), idem::Error> {
    Ok(drop(order_id))
}

fn main() {}

use idem::idempotent;

enum ShipError {
    OutOfStock,
}

#[idempotent(key = order_id)]
async fn ship(order_id: u64) -> Result<u64, ShipError> {
    if order_id == 0 { Err(ShipError::OutOfStock) } else { Ok(order_id) }
}

fn main() {}

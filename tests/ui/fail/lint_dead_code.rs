#![deny(dead_code)]

use idem::idempotent;

#[idempotent(key = order_id)]
async fn ship(order_id: u64) -> Result<u64, idem::Error> {
    Ok(order_id)
}

fn main() {}

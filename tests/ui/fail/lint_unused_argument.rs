#![deny(warnings)]

use idem::idempotent;

#[idempotent(key = order_id, skip(unused))]
async fn ship(order_id: u64, unused: u8) -> Result<u64, idem::Error> {
    Ok(order_id)
}

fn main() {
    drop(ship(1, 2));
}

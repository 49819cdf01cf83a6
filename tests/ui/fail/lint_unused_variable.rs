#![deny(unused_variables)]

use idem::idempotent;

#[idempotent(key = order_id)]
async fn ship(order_id: u64) -> Result<u64, idem::Error> {
    let unused = 1;
    Ok(order_id)
}

fn main() {
    drop(ship(1));
}

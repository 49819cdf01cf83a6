use std::rc::Rc;

use idem::idempotent;

#[idempotent(key = order_id)]
async fn ship(order_id: u64) -> Result<u64, idem::Error> {
    let shared = Rc::new(order_id);
    tokio::task::yield_now().await;
    Ok(*shared)
}

fn main() {
    tokio::spawn(ship(1));
}

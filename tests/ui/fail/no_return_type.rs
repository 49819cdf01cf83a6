use idem::idempotent;

#[idempotent(key = order_id)]
async fn ship(order_id: u64) {
    drop(order_id);
}

fn main() {}

use idem::idempotent;

struct Uuid;

impl Uuid {
    fn new_v4() -> String {
        String::new()
    }
}

#[idempotent(key = (order_id, Uuid::new_v4()))]
async fn ship(order_id: u64) -> Result<u64, idem::Error> {
    Ok(order_id)
}

fn main() {}

use idem::idempotent;

struct Receipt;

#[idempotent(key = order_id)]
async fn ship(order_id: u64) -> Result<Receipt, idem::Error> {
    Ok(Receipt)
}

fn main() {}

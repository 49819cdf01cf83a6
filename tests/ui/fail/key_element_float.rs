use idem::idempotent;

#[idempotent(key = (order_id, amount))]
async fn pay(order_id: u64, amount: f64) -> Result<(), idem::Error> {
    Ok(())
}

fn main() {}

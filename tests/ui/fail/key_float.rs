use idem::idempotent;

#[idempotent(key = amount)]
async fn pay(amount: f64) -> Result<(), idem::Error> {
    Ok(())
}

fn main() {}

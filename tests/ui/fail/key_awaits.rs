use idem::idempotent;

async fn number_of(order: &str) -> usize {
    order.len()
}

#[idempotent(key = number_of(order).await)]
async fn ship(order: &str) -> Result<(), idem::Error> {
    Ok(())
}

fn main() {}

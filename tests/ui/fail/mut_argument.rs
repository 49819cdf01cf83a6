use idem::idempotent;

#[idempotent(key = order_id)]
async fn ship(order_id: u64, log: &mut Vec<u64>) -> Result<(), idem::Error> {
    log.push(order_id);
    Ok(())
}

fn main() {}

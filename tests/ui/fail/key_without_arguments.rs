use idem::idempotent;

#[idempotent(key = "nightly")]
async fn report() -> Result<(), idem::Error> {
    Ok(())
}

fn main() {}

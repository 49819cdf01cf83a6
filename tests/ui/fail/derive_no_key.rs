use idem::{IdempotencyKey, idempotent};

#[derive(IdempotencyKey)]
struct Message {
    user: u64,
    text: String,
}

#[idempotent(key = message)]
async fn send(message: Message) -> Result<u64, idem::Error> {
    Ok(message.user)
}

fn main() {}

use idem::IdempotencyKey;

#[derive(IdempotencyKey)]
struct Message {
    #[idem(key, rename = "id")]
    user: u64,
}

fn main() {}

use idem::IdempotencyKey;

#[derive(IdempotencyKey)]
struct Message {
    #[idem(key, skip)]
    user: u64,
}

fn main() {}

use idem::IdempotencyKey;

#[derive(IdempotencyKey)]
#[idem(key)]
struct Message {
    user: u64,
}

fn main() {}

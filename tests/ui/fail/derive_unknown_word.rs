use idem::IdempotencyKey;

#[derive(IdempotencyKey)]
struct Message {
    #[idem(kye)]
    user: u64,
}

fn main() {}

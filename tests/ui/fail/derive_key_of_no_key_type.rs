use idem::IdempotencyKey;

#[derive(IdempotencyKey)]
struct Payment {
    #[idem(key)]
    amount: f64,
}

fn main() {}

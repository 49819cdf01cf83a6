use idem::IdempotencyKey;

#[derive(IdempotencyKey)]
enum Event {
    Paid {
        #[idem(key)]
        order: u64,
        cents: u64,
    },
    Refunded {
        order: u64,
        cents: u64,
    },
}

fn main() {}

use idem::IdempotencyKey;

struct Trace;

#[derive(IdempotencyKey)]
struct Message {
    #[idem(key)]
    user: u64,
    trace: Trace,
}

fn main() {}

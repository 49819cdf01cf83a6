use idem::IdempotencyKey;

#[derive(IdempotencyKey)]
enum Event {
    #[idem(rename = "paid")]
    Paid(u64),
    #[idem(rename = "paid")]
    Settled(u64),
}

fn main() {}

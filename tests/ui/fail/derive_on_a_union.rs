use idem::IdempotencyKey;

#[derive(IdempotencyKey)]
union Bits {
    unsigned: u64,
    signed: i64,
}

fn main() {}

use idem::{Error, idempotent};

#[idempotent(key = id, skip(note), fingerprint = id)]
async fn charge(id: u8, note: String) -> Result<usize, Error> {
    Ok(note.len() + usize::from(id))
}

fn main() {}

use std::rc::Rc;

use idem::{Error, idempotent};

#[idempotent(key = id, detach)]
async fn charge(id: Rc<str>) -> Result<u8, Error> {
    Ok(u8::try_from(id.len()).unwrap_or_default())
}

fn main() {}

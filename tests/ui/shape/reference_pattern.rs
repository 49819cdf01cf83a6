#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[idempotent(key = id)]
async fn ship(&id: &u64, &(ref name, _): &(String, u64)) -> Result<String, Error> {
    support::ran();
    Ok(format!("{id} {name}"))
}

fn main() {
    let named = ("a".to_owned(), 1);
    support::runs_once("7 a".to_owned(), async || ship(&7, &named).await);
}

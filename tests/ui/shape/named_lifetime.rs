#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

#[idempotent(key = id)]
async fn ship<'a, 'b: 'a>(id: &'a str, note: &'b str) -> Result<String, Error> {
    support::ran();
    let longer: &'a str = note;
    Ok(format!("{id} {longer}"))
}

fn main() {
    let (id, note) = (String::from("a"), String::from("b"));
    support::runs_once("a b".to_owned(), async || ship(&id, &note).await);
}

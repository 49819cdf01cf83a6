#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

struct Line<'a>(&'a str);

#[idempotent(key = line.0, skip(line))]
async fn ship(line: Line<'_>, note: Option<&str>) -> Result<String, Error> {
    support::ran();
    Ok(line.0.to_owned() + note.unwrap_or_default())
}

fn main() {
    let text = String::from("a");
    support::runs_once("ab".to_owned(), async || ship(Line(&text), Some("b")).await);
}

#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

macro_rules! operations {
    ($($name:ident)*) => {$(
        #[idempotent(key = id)]
        async fn $name(id: u64) -> Result<String, Error> {
            support::ran();
            Ok(format!("{} {id}", stringify!($name)))
        }
    )*};
}

operations!(ship pack);

fn main() {
    support::runs_once("ship 7".to_owned(), async || ship(7).await);
    support::runs_once("pack 7".to_owned(), async || pack(7).await);
}

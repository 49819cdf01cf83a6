#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

mod r#try {
    use super::{Error, idempotent, support};

    #[idempotent(key = r#type)]
    pub async fn r#match(r#type: u64) -> Result<u64, Error> {
        support::ran();
        Ok(r#type)
    }
}

fn main() {
    support::runs_once(7, async || r#try::r#match(7).await);
}

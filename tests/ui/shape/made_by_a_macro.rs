#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

macro_rules! operation {
    ($(#[$attr:meta])* $vis:vis fn $name:ident($argument:ident: $type:ty) -> $return:ty, $key:expr, $body:block) => {
        $(#[$attr])*
        #[idempotent(key = $key)]
        $vis async fn $name($argument: $type) -> $return $body
    };
}

operation!(
    /// Ships.
    pub(crate) fn ship(id: u64) -> Result<u64, Error>, (id, "x"), {
        support::ran();
        Ok(id)
    }
);

fn main() {
    support::runs_once(7, async || ship(7).await);
}

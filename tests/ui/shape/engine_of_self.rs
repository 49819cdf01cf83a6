#[path = "../support.rs"]
mod support;

use idem::{Engine, Error, idempotent};

struct Orders {
    engine: Engine,
}

impl Orders {
    #[idempotent(name = "orders.ship", key = id, engine = self.engine)]
    async fn ship(&self, id: u64) -> Result<u64, Error> {
        support::ran();
        Ok(id)
    }
}

fn main() {
    let orders = Orders { engine: Engine::in_memory() };
    support::runs_once(7, async || orders.ship(7).await);
}

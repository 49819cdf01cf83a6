#[path = "../support.rs"]
mod support;

use std::rc::Rc;

use idem::{Error, idempotent};

#[async_trait::async_trait(?Send)]
trait Ship {
    async fn ship(self, lines: Rc<[u64]>, pair: (u64, u64), nothing: Rc<()>) -> Result<u64, Error>;
}

struct Orders;

#[async_trait::async_trait(?Send)]
impl Ship for Orders {
    #[idempotent(name = "orders.ship", key = (lines[0], a), skip(lines))]
    async fn ship(self, lines: Rc<[u64]>, (a, mut b): (u64, u64), _: Rc<()>) -> Result<u64, Error> {
        support::ran();
        b += lines[0];
        Ok(a + b)
    }
}

fn main() {
    support::runs_once(6, async || Orders.ship(Rc::new([1]), (2, 3), Rc::new(())).await);
}

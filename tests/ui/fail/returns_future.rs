use idem::idempotent;

trait Ship {
    fn ship(&self, order_id: u64) -> impl Future<Output = Result<(), idem::Error>> + Send;
}

struct Orders;

impl Ship for Orders {
    #[idempotent(name = "orders.ship", key = order_id)]
    fn ship(&self, order_id: u64) -> impl Future<Output = Result<(), idem::Error>> + Send {
        async move { Ok(drop(order_id)) }
    }
}

fn main() {}

#[path = "../support.rs"]
mod support;

use idem::{Error, idempotent};

struct Tenant {
    id: u64,
}

#[idempotent(key = format!("order-{id}"), scope = (tenant.id, "eu"), skip(tenant))]
async fn ship(tenant: &Tenant, id: u64) -> Result<u64, Error> {
    support::ran();
    Ok(tenant.id + id)
}

fn main() {
    support::runs_once(8, async || ship(&Tenant { id: 1 }, 7).await);
}

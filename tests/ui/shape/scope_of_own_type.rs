#![deny(warnings)]

#[path = "../support.rs"]
mod support;

use idem::{Error, IdempotencyKey, idempotent};

// Neither is `Serialize`: as scope and key they name the intent, and are not compared beside that.
#[derive(IdempotencyKey)]
struct Tenant(u32);

#[derive(IdempotencyKey)]
struct OrderId(u64);

#[idempotent(scope = tenant, key = order)]
async fn ship(tenant: Tenant, order: OrderId, parcels: u32) -> Result<u32, Error> {
    support::ran();
    let _ = order;
    Ok(tenant.0 + parcels)
}

fn main() {
    support::runs_once(12, async || ship(Tenant(10), OrderId(1), 2).await);
    support::runs_once(22, async || ship(Tenant(20), OrderId(1), 2).await);
}

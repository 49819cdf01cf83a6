//! Fifteen signatures and more, as in case O-39.

use ::std::pin::Pin;
use ::std::sync::Arc;

use ::idem::{Engine, Error, IdempotencyKey, Outcome, idempotent};
use ::serde::{Serialize, de::DeserializeOwned};

use crate::derived::{Event, Message, OrderId};

/// A tenant's orders.
#[derive(Debug, Clone)]
pub struct Orders {
    shop: u64,
    engine: Engine,
}

impl Orders {
    const FEE: u64 = 100;

    /// The orders of a shop.
    #[must_use]
    pub const fn new(shop: u64, engine: Engine) -> Self {
        Self { shop, engine }
    }

    /// By reference.
    ///
    /// # Errors
    ///
    /// Of idem.
    #[idempotent(name = "orders.shared", key = (Self::FEE, self.shop, id), engine = self.engine)]
    pub async fn shared(&self, id: OrderId) -> Result<u64, Error> {
        Ok(self.shop + Self::FEE + id.number())
    }

    /// By exclusive reference.
    ///
    /// # Errors
    ///
    /// Of idem.
    #[idempotent(name = "orders.exclusive", key = id)]
    pub async fn exclusive(&mut self, id: u64) -> Result<(), Error> {
        self.shop += id;
        Ok(())
    }

    /// By value.
    ///
    /// # Errors
    ///
    /// Of idem.
    #[idempotent(name = "orders.owned", key = self.shop)]
    pub async fn owned(mut self) -> Result<u64, Error> {
        self.shop += 1;
        Ok(self.shop)
    }

    /// Shared.
    ///
    /// # Errors
    ///
    /// Of idem.
    #[idempotent(name = "orders.arc", key = self.shop)]
    pub async fn arc(self: Arc<Self>) -> Result<u64, Error> {
        Ok(self.shop)
    }

    /// Pinned.
    ///
    /// # Errors
    ///
    /// Of idem.
    #[idempotent(name = "orders.pinned", key = self.shop)]
    pub async fn pinned(self: Pin<&mut Self>) -> Result<u64, Error> {
        Ok(self.shop)
    }

    /// Without a receiver.
    ///
    /// # Errors
    ///
    /// Of idem.
    #[idempotent(name = "orders.associated", key = shop, skip(engine))]
    pub async fn associated(shop: u64, engine: Engine) -> Result<u64, Error> {
        Ok(Self { shop, engine }.shop)
    }
}

/// A trait with native `async fn`s.
pub trait Ship {
    /// Ships.
    fn ship(&self, id: u64) -> impl Future<Output = Result<u64, Error>> + Send;
}

impl Ship for Orders {
    #[idempotent(name = "orders.ship", key = id)]
    async fn ship(&self, id: u64) -> Result<u64, Error> {
        Ok(self.shop + id)
    }
}

/// A trait of boxed futures.
#[async_trait::async_trait]
pub trait Pack: Send + Sync {
    /// Packs.
    ///
    /// # Errors
    ///
    /// Of idem.
    async fn pack(&self, id: u64, note: &str) -> Result<u64, Error>;

    /// Unpacks.
    ///
    /// # Errors
    ///
    /// Of idem.
    #[idempotent(name = "orders.unpack", key = (id, a))]
    async fn unpack(&self, mut id: u64, (a, mut b): (u64, u64), _: u8, note: &str) -> Result<u64, Error> {
        id += self.pack(id, note).await?;
        b += 1;
        Ok(id + a + b)
    }
}

#[async_trait::async_trait]
impl Pack for Orders {
    #[idempotent(name = "orders.pack", key = (self.shop, id))]
    async fn pack(&self, id: u64, note: &str) -> Result<u64, Error> {
        if note.is_empty() {
            return Ok(0);
        }
        Ok(self.shop + id)
    }
}

/// Generic.
///
/// # Errors
///
/// Of idem.
#[idempotent(key = (N, id), skip(lines))]
pub async fn generic<'a, T, const N: usize>(id: &'a str, value: T, lines: &'a [T; N]) -> Result<T, Error>
where
    T: Serialize + DeserializeOwned + Copy + Send + Sync,
{
    Ok(lines.first().copied().filter(|_| id.is_empty()).unwrap_or(value))
}

/// Opaque.
///
/// # Errors
///
/// Of idem.
#[idempotent(key = id)]
pub async fn opaque(
    id: impl IdempotencyKey + Serialize + Into<String> + Send,
) -> Result<impl Serialize + DeserializeOwned + Into<String>, Error> {
    Ok(id.into())
}

/// Patterns, conditions, and an alias without parameters.
///
/// # Errors
///
/// Of idem.
#[idempotent(name = "patterns", key = (a, format!("{first}")))]
pub async fn patterns(
    (mut a, b): (u64, u64),
    [first, ..]: [u64; 3],
    &n: &u64,
    #[cfg(any())] absent: Absent,
    #[cfg(not(any()))] present: u64,
    #[allow(unused_variables)] unused: u64,
) -> Count {
    a += 1;
    Ok(a + b + first + n + present)
}

/// An alias.
pub type Count = Result<u64, Error>;

/// A message as its own key, and an outcome.
///
/// # Errors
///
/// Of idem.
#[idempotent(name = "message", key = (message, event))]
pub async fn message(message: Message<'_, u8, 2>, event: &Event<Engine>) -> Result<Outcome<u8>, Error> {
    let open = matches!(event, Event::Opened);
    Ok((message.lines[0] + u8::from(open)).into())
}

/// Still there.
///
/// # Errors
///
/// Of idem.
#[must_use = "or nothing happens"]
#[deprecated = "use another"]
#[idempotent(key = id)]
#[tracing::instrument(skip_all)]
pub async fn decorated(id: u64) -> Result<(), Error> {
    if id == 0 {
        tracing::info!("nothing");
    }
    Ok(())
}

/// Not yet.
///
/// # Errors
///
/// Of idem.
#[expect(clippy::todo, reason = "another day")]
#[idempotent(key = id)]
pub async fn unfinished(id: u64) -> Result<u64, Error> {
    todo!()
}

/// Over and over.
///
/// # Errors
///
/// Of idem.
#[idempotent(key = id)]
pub async fn descend(id: u64) -> Result<u64, Box<dyn ::std::error::Error + Send + Sync>> {
    let mut tries = 0;
    loop {
        if id == 0 {
            return Err("nowhere".into());
        }
        if id == 1 || tries == 3 {
            return Ok(tries);
        }
        tries += 1 + Box::pin(descend(id - 1)).await?;
    }
}

pub(crate) mod inner {
    use super::{Error, idempotent};

    /// Only here.
    #[expect(clippy::redundant_pub_crate, reason = "or it would be unreachable")]
    #[idempotent(key = id)]
    pub(crate) async fn inside(id: u64) -> Result<u64, Error> {
        Ok(id)
    }
}

/// Calls what is inside.
///
/// # Errors
///
/// Of idem.
pub async fn outside() -> Result<u64, Error> {
    inner::inside(1).await
}

macro_rules! operation {
    ($name:ident($argument:ident: $type:ty) -> $return:ty $body:block) => {
        /// Made by a macro.
        ///
        /// # Errors
        ///
        /// Of idem.
        #[idempotent(key = $argument)]
        pub async fn $name($argument: $type) -> $return $body
    };
}

operation!(made(id: uuid::Uuid) -> Result<u64, Error> { Ok(id.as_u64_pair().0) });

#[cfg(test)]
mod tests {
    use super::*;

    #[::tokio::test]
    async fn what_is_linted_works() {
        let engine = Engine::in_memory();
        let orders = Orders::new(1, engine.clone());
        let calls = async {
            for _ in 0..2 {
                assert_eq!(orders.shared(OrderId::new(7)).await.unwrap(), 108);
                assert_eq!(orders.unpack(1, (2, 3), 4, "x").await.unwrap(), 9);
                assert_eq!(patterns((1, 2), [3, 4, 5], &6, 7, 8).await.unwrap(), 20);
                assert_eq!(descend(1).await.unwrap(), 0);
                assert_eq!(outside().await.unwrap(), 1);
                assert_eq!(opaque("text").await.unwrap().into(), "text");
            }
        };
        ::idem::with_engine(engine, calls).await;
    }
}

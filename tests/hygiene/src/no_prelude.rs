//! Where not even `Some` and `Ok` mean anything, or mean something else.
#![no_implicit_prelude]

use ::idem::{Error, IdempotencyKey, idempotent};

/// Not the result of anything.
#[derive(::core::fmt::Debug)]
pub struct Result;
/// Not an option.
#[derive(::core::fmt::Debug)]
pub struct Option;
/// Not a box.
#[derive(::core::fmt::Debug)]
pub struct Box;
/// Not what the expansion calls so.
#[derive(::core::fmt::Debug)]
pub struct Site;
/// Nor this.
#[derive(::core::fmt::Debug)]
pub struct Here;
/// Not a variant.
pub const SITE: u8 = 0;

type Reply<T> = ::core::result::Result<T, Error>;

/// A key.
#[derive(::core::fmt::Debug, IdempotencyKey)]
pub struct Order {
    /// Its number.
    #[idem(key)]
    pub id: u64,
    /// What it costs.
    pub cents: u64,
}

/// Another.
#[derive(::core::fmt::Debug, IdempotencyKey)]
pub enum Event {
    /// With a key.
    Paid {
        /// Its number.
        #[idem(key)]
        order: u64,
        /// What it costs.
        cents: u64,
    },
    /// Without any.
    Closed,
}

/// Ships once.
///
/// # Errors
///
/// Of idem.
#[idempotent(key = order, lease = "10s")]
pub async fn ship(order: Order, note: &str) -> Reply<u64> {
    let length = ::core::convert::TryFrom::try_from(note.len());
    let length: u64 = length.unwrap_or_default();
    ::core::result::Result::Ok(order.cents + length)
}

/// Closes once.
///
/// # Errors
///
/// Of idem.
#[idempotent(key = event)]
pub async fn close(event: &Event) -> Reply<bool> {
    ::core::result::Result::Ok(::core::matches!(event, Event::Closed))
}

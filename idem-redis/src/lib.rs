//! The Redis store of [idem](https://docs.rs/idem-rs). Applications use it through the facade, `idem-rs`.
//!
//! One string per identity at `<prefix>:{<operation>}`; the decisions are those of [`idem_core::protocol`], as scripts in
//! `lua/`.

mod epoch;
mod error;
mod keyspace;
mod lanes;
mod scripts;
mod store;
mod survey;

pub use error::{BuildError, RedisCause};
pub use store::{RedisStore, RedisStoreBuilder};

//! A user's crate with the strictest lints there are.
//!
//! What `#[idempotent]` and `#[derive(IdempotencyKey)]` expand to must set off none of them, wherever they stand; and the
//! lints must go on seeing what the user wrote. Each `#[expect]` here is for a lint that has to fire in the body of an
//! annotated function: where it does not, clippy says so.
//!
//! `cargo xtask test` runs clippy on it, with all warnings denied, and its tests.
#![deny(
    warnings,
    unused,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    unused_qualifications,
    unused_results,
    unused_lifetimes,
    single_use_lifetimes,
    trivial_casts,
    let_underscore_drop,
    rust_2018_idioms,
    rust_2021_compatibility,
    rust_2024_compatibility
)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery)]
#![forbid(unsafe_code)]

// All that an expansion might lean on, meaning something else.
/// Not the standard library.
pub mod std {}
/// Not the core library.
pub mod core {}
/// Not the runtime.
pub mod tokio {}
/// Not the facade.
pub mod idem {}
/// Not serde.
pub mod serde {}

pub mod derived;
pub mod names;
pub mod no_prelude;
pub mod seen;
pub mod shapes;

//! The engine, the protocol and the in-memory store of [idem](https://docs.rs/idem-rs).
//!
//! Applications use the facade, `idem-rs`. Authors of a [`Store`] depend on this crate: the trait states what each step
//! promises, [`protocol`] decides it as pure functions, and [`MemoryStore`] is the shortest store there is.
//!
//! A call goes one way: [`Call`] checks it, [`Engine`] claims, the body runs, its claim is completed or released through
//! the [`Store`], which keeps a [`record`].

mod attempt;
mod builder;
mod call;
mod choices;
mod claim;
mod clock;
mod codec;
#[cfg(feature = "conformance")]
pub mod conformance;
mod detach;
mod digits;
mod engine;
mod error;
#[doc(hidden)]
pub mod expansion;
mod fingerprint;
mod held;
mod install;
mod instruments;
mod judge;
mod judged;
mod keeper;
mod key;
mod known;
mod lease;
mod memory;
pub mod metrics;
mod names;
mod observed;
mod operation;
mod outcome;
mod policy;
pub mod protocol;
pub mod record;
mod reply;
mod request;
mod sample;
mod send;
mod shown;
mod start;
pub mod store;
mod telemetry;
mod upkeep;
mod visits;

pub use attempt::{Attempt, attempt};
pub use builder::EngineBuilder;
pub use call::{Call, Named};
pub use choices::{OnConflict, OnLoss, OnOutage, OnUnrecorded};
pub use codec::{Codec, DecodeError, DecodeReason, EncodeError};
pub use engine::Engine;
pub use error::{Error, ErrorKind};
pub use fingerprint::{Argument, FieldsWriter, Fingerprint, FingerprintBuilder, FingerprintError};
pub use install::{AlreadyInstalled, install, with_engine};
pub use judge::KeepableError;
pub use judged::{Judged, Recovering};
pub use key::{IdempotencyKey, InvalidKey, Key, KeyWriter};
pub use lease::Loss;
pub use memory::MemoryStore;
pub use operation::Operation;
pub use outcome::{Outcome, Seen, observe};
pub use policy::{ConfigError, Policy};
pub use record::Fence;
pub use reply::{CarriesIdem, Keepable, Reply};
pub use sample::Sampler;
pub use store::{Inspection, OnCrash, Standing, Store, StoreErrorKind};
pub use upkeep::Settling;

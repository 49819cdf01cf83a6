#![doc = include_str!("../README.md")]

#[cfg(feature = "conformance")]
pub use idem_core::conformance;
pub use idem_core::{
    AlreadyInstalled, Argument, Attempt, Call, CarriesIdem, Codec, ConfigError, DecodeError, DecodeReason, EncodeError,
    Engine, EngineBuilder, Error, ErrorKind, Fence, FieldsWriter, Fingerprint, FingerprintBuilder, FingerprintError,
    IdempotencyKey, Inspection, InvalidKey, Judged, Keepable, KeepableError, Key, KeyWriter, Loss, MemoryStore, Named,
    OnConflict, OnCrash, OnLoss, OnOutage, OnUnrecorded, Operation, Outcome, Policy, Recovering, Reply, Sampler, Seen,
    Settling, Standing, Store, StoreErrorKind, attempt, install, metrics, observe, store, with_engine,
};
#[cfg(feature = "macros")]
#[doc = include_str!("derived_key.md")]
pub use idem_macros::IdempotencyKey;
#[cfg(feature = "macros")]
#[doc = include_str!("attribute.md")]
pub use idem_macros::idempotent;
#[cfg(feature = "redis")]
pub use idem_redis::{BuildError, RedisCause, RedisStore, RedisStoreBuilder};

/// What the attribute's expansion names. Not public API.
#[doc(hidden)]
pub mod __private {
    pub use idem_core::expansion::*;
}

//! What `#[idempotent]` expands to. Not public API: the facade hides it, and the attribute is pinned to this very release.

use std::time::Duration;

use crate::call::Named;

pub use crate::key::KeyOnly;
pub use crate::reply::{Returns, returns};

/// An annotated function: what is known of it before its first call.
#[derive(Debug)]
pub struct Site {
    name: &'static str,
    retention: Option<Duration>,
    lease: Option<Duration>,
}

impl Site {
    /// The function that is the operation `name`.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, retention: None, lease: None }
    }

    /// The attribute's `retention`.
    #[must_use]
    pub const fn retention(mut self, retention: Duration) -> Self {
        self.retention = Some(retention);
        self
    }

    /// The attribute's `lease`.
    #[must_use]
    pub const fn lease(mut self, lease: Duration) -> Self {
        self.lease = Some(lease);
        self
    }

    /// A call of the function.
    pub fn call(&'static self) -> Named {
        Named::new(self.name.into(), None).overriding(self.retention, self.lease)
    }
}

//! What `#[idempotent]` expands to. Not public API: the facade hides it, and the attribute is pinned to this very release.

use std::borrow::Cow;
use std::panic::Location;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use crate::call::Named;
use crate::names;

pub use crate::call::Ready;
pub use crate::key::KeyOnly;
pub use crate::reply::{Returns, returns};

/// An annotated function: what is known of it before its first call.
#[derive(Debug)]
pub struct Site {
    pub(crate) name: &'static str,
    retention: Option<Duration>,
    lease: Option<Duration>,
    /// Where the attribute stands.
    pub(crate) location: &'static Location<'static>,
    /// Where the name is the function's path: what the compiler calls a type `Here` in the function.
    pub(crate) function: Option<fn() -> &'static str>,
    /// The engine that last found the name to be this function's own.
    pub(crate) known_to: AtomicU64,
}

impl Site {
    /// The function that is the operation `name`.
    #[must_use]
    #[track_caller]
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            retention: None,
            lease: None,
            location: Location::caller(),
            function: None,
            known_to: AtomicU64::new(0),
        }
    }

    /// The function at `path`, if it is at module level: `here` names a type `Here` in it.
    #[must_use]
    #[track_caller]
    pub const fn of_function(path: &'static str, here: fn() -> &'static str) -> Self {
        Self { function: Some(here), ..Self::new(path) }
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
        Named::of_site(self).overriding(self.retention, self.lease)
    }

    /// The operation's name. A path is freed of `r#`, which says how a name has to be written and not what it is.
    pub(crate) fn name(&self) -> Cow<'static, str> {
        match self.function {
            Some(_) => names::plain(self.name),
            None => self.name.into(),
        }
    }
}

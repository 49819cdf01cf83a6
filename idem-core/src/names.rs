//! Which function stands behind which name: two functions under one name would answer each other's repeats.
//!
//! Known per engine, since a test may well bring an engine and functions of its own. Calls without the attribute
//! (`engine.operation(…)`) are not: a name that is written at each call is the caller's to share.

use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use crate::expansion::Site;

/// The names that an engine has met.
pub(crate) struct Names {
    engine: u64,
    sites: Mutex<HashMap<Cow<'static, str>, &'static Site>>,
}

/// Why a function cannot run under its name.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NameError {
    #[error("two functions have this name: {first} and {second}; give one of them another `name`")]
    Shared { first: &'static Location<'static>, second: &'static Location<'static> },
    #[error("a nested or associated function needs a `name`, as in `name = \"orders.charge\"`: {0}")]
    Missing(&'static Location<'static>),
}

impl Names {
    pub(crate) fn new() -> Self {
        static ENGINES: AtomicU64 = AtomicU64::new(1);
        Self { engine: ENGINES.fetch_add(1, Relaxed), sites: Mutex::default() }
    }

    /// Whether `site` may run under its name on this engine. After its first call that costs one load.
    pub(crate) fn check(&self, site: &'static Site) -> Result<(), NameError> {
        if site.known_to.load(Relaxed) == self.engine {
            return Ok(());
        }
        if site.function.is_some_and(|function| !is_at(site.name, function())) {
            return Err(NameError::Missing(site.location));
        }
        let first = *self.sites.lock().unwrap_or_else(PoisonError::into_inner).entry(site.name()).or_insert(site);
        // Functions that one macro call made have one location, so that is not what tells them apart.
        if !ptr::eq(first, site) {
            return Err(NameError::Shared { first: first.location, second: site.location });
        }
        site.known_to.store(self.engine, Relaxed);
        Ok(())
    }
}

/// Whether the function of this `path` is a free function of its module, given the name that the compiler has for a type
/// `Here` inside of it. Such names are no part of the language, so an unknown form tells nothing.
fn is_at(path: &str, here: &str) -> bool {
    let (path, here) = (plain(path), plain(here));
    let Some(mut function) = here.strip_suffix("::Here") else { return true };
    while let Some(outer) = function.strip_suffix("::{{closure}}") {
        function = outer;
    }
    let own_name = path.rsplit("::").next().unwrap_or_default();
    function == path || function.rsplit("::").next() != Some(own_name)
}

/// A path as it would read if none of its names were a keyword.
pub(crate) fn plain(path: &str) -> Cow<'_, str> {
    if path.contains("r#") { path.replace("r#", "").into() } else { path.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_free_functions_at_module_level_are_where_their_path_says() {
        let path = "app::orders::charge";
        for here in [
            "app::orders::charge::Here",
            "app::orders::charge::{{closure}}::Here",
            "app::orders::charge::{{closure}}::{{closure}}::Here",
            "app::r#orders::charge::{{closure}}::Here",
            // Forms that no compiler has today.
            "app::orders::charge<T>::{{closure}}::Here",
            "charge",
        ] {
            assert!(is_at(path, here), "{here}");
        }
        for here in [
            "app::orders::Orders::charge::{{closure}}::Here",
            "<app::orders::Orders as app::Charge>::charge::{{closure}}::Here",
            "app::orders::outer::charge::{{closure}}::Here",
            "app::orders::outer::{{closure}}::charge::{{closure}}::Here",
        ] {
            assert!(!is_at(path, here), "{here}");
        }
    }

    #[test]
    fn a_name_is_met_per_engine() {
        static FIRST: Site = Site::new("charge");
        static SECOND: Site = Site::new("charge");
        let (here, there) = (Names::new(), Names::new());
        here.check(&FIRST).unwrap();
        here.check(&FIRST).unwrap();
        let error = here.check(&SECOND).unwrap_err().to_string();
        assert_eq!(error.matches("idem-core/src/names.rs:").count(), 2, "{error}");
        there.check(&SECOND).unwrap();
        assert!(there.check(&FIRST).is_err() && here.check(&SECOND).is_err());
        here.check(&FIRST).unwrap();
    }
}

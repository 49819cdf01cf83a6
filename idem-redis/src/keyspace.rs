//! Where records lie. The only place that builds a Redis key.

use idem_core::Operation;

use crate::error::BuildError;

/// All keys of one store.
#[derive(Debug, Clone)]
pub(crate) struct Keyspace {
    prefix: String,
}

impl Default for Keyspace {
    fn default() -> Self {
        Self { prefix: "idem".to_owned() }
    }
}

impl Keyspace {
    /// The keys under `prefix`.
    ///
    /// A brace in it would begin the cluster's hash tag too early, and every key would share one slot.
    pub(crate) fn new(prefix: impl Into<String>) -> Result<Self, BuildError> {
        let prefix = prefix.into();
        if prefix.is_empty() || prefix.contains(|c: char| "{}".contains(c) || c.is_whitespace() || c.is_control()) {
            return Err(BuildError::Prefix);
        }
        Ok(Self { prefix })
    }

    /// The key of an operation's record. The text is the hash tag; it holds no brace.
    pub(crate) fn key(&self, operation: &Operation) -> String {
        let text = operation.text();
        let mut key = String::with_capacity(self.prefix.len() + text.len() + 3);
        key.push_str(&self.prefix);
        key.push_str(":{");
        key.push_str(text);
        key.push('}');
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use idem_core::Key;

    #[test]
    fn the_operation_is_the_hash_tag() {
        let operation = Operation::new("orders.ship", Some(&Key::of("eu").unwrap()), &Key::of("a{b}c").unwrap());
        assert_eq!(Keyspace::new("idem").unwrap().key(&operation), "idem:{orders.ship:eu:a%7Bb%7Dc}");
    }

    #[test]
    fn a_prefix_that_would_be_a_hash_tag_is_refused() {
        for prefix in ["{app}", "a{", "}", "", "a b"] {
            assert!(matches!(Keyspace::new(prefix), Err(BuildError::Prefix)), "{prefix:?}");
        }
    }
}

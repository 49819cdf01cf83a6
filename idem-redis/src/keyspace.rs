//! Where records lie. The only place that builds a Redis key.

use idem_core::Operation;

use crate::error::BuildError;

/// All keys of one store.
#[derive(Debug, Clone)]
pub(crate) struct Keyspace {
    prefix: String,
}

const OPENS: &str = ":{";
const CLOSES: &str = "}";

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
        key.push_str(OPENS);
        key.push_str(text);
        key.push_str(CLOSES);
        key
    }

    /// The pattern that the keys of all operations match, or of those with one name.
    pub(crate) fn pattern(&self, name: Option<&str>) -> String {
        let begins = [&self.prefix[..], OPENS, &name.map(Operation::prefix_of).unwrap_or_default()].concat();
        let mut pattern = String::with_capacity(begins.len() + 1);
        for c in begins.chars() {
            if "*?[]\\".contains(c) {
                pattern.push('\\');
            }
            pattern.push(c);
        }
        pattern.push('*');
        pattern
    }

    /// The text form of the identity whose record lies at `key`; `None` if that is no identity's.
    pub(crate) fn text<'a>(&self, key: &'a [u8]) -> Option<&'a str> {
        let key = std::str::from_utf8(key).ok()?;
        let text = key.strip_prefix(&self.prefix[..])?.strip_prefix(OPENS)?.strip_suffix(CLOSES)?;
        Operation::from_text(text).map(|_| text)
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
    fn a_pattern_means_the_name_and_no_wildcard_in_it() {
        let pattern = |prefix, name| Keyspace::new(prefix).unwrap().pattern(name);
        assert_eq!(pattern("idem", None), "idem:{*");
        assert_eq!(pattern("idem", Some("orders.ship")), "idem:{orders.ship:*");
        assert_eq!(pattern("a*b", Some("what?[x]\\")), "a\\*b:{what\\?\\[x\\]\\\\:*");
    }

    #[test]
    fn a_key_tells_its_identity() {
        let keyspace = Keyspace::new("idem").unwrap();
        for key in ["42", &"x".repeat(300)] {
            let operation = Operation::new("orders.ship", None, &Key::of(key).unwrap());
            assert_eq!(keyspace.text(keyspace.key(&operation).as_bytes()), Some(operation.text()));
        }
        for foreign in ["idem:{}", "idem:{a::b}c", "idem:{a::b", "idem2:{a::b}", "idem:{a}", "idem:{a::b c}"] {
            assert_eq!(keyspace.text(foreign.as_bytes()), None, "{foreign}");
        }
        assert_eq!(keyspace.text(b"idem:{a::\xff}"), None);
    }

    #[test]
    fn a_prefix_that_would_be_a_hash_tag_is_refused() {
        for prefix in ["{app}", "a{", "}", "", "a b"] {
            assert!(matches!(Keyspace::new(prefix), Err(BuildError::Prefix)), "{prefix:?}");
        }
    }
}

//! The identity of one intent: name, scope and key, and the one text form that stands for them everywhere.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::digits::ALPHABET;
use crate::key::{self, Key, SEPARATOR};

/// What is to happen once: an operation's stable name, an optional scope (tenant), and the key of one intent.
///
/// Its text form `<name>:<scope>:<key>` is injective: different triples never share a text. A form of more than
/// [`Operation::MAX_TEXT`] bytes keeps the name and ends in a 192-bit digest (`%~…`) of the whole.
///
/// ```
/// use idem_core::{Key, Operation};
///
/// let operation = Operation::new("payments.charge", None, &Key::of("order-1")?);
/// assert_eq!(operation.text(), "payments.charge::order-1");
/// # Ok::<_, idem_core::InvalidKey>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Operation {
    name: Cow<'static, str>,
    /// Shared: each request of a call names its operation.
    text: Arc<str>,
}

impl Operation {
    /// The longest text form, in bytes, that is kept as it is.
    pub const MAX_TEXT: usize = 200;

    /// The identity of `key` for the operation `name`, within `scope`.
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>, scope: Option<&Key>, key: &Key) -> Self {
        let name = name.into();
        let scope = scope.map_or("", Key::as_str);
        let mut text = String::with_capacity(name.len() + scope.len() + key.as_str().len() + 4);
        key::escape(&mut text, &name);
        text.push(SEPARATOR);
        let after_name = text.len();
        for (at, part) in scope.split(SEPARATOR).enumerate() {
            text.push_str(if at == 0 { "" } else { SCOPE_SEPARATOR });
            text.push_str(part);
        }
        text.push(SEPARATOR);
        text.push_str(key.as_str());
        if text.len() > Self::MAX_TEXT {
            let digest = blake3::hash(text.as_bytes());
            text.truncate(after_name);
            push_digest(&mut text, &digest);
        }
        Self { name, text: text.into() }
    }

    /// The identity with this text form, as a store shows it: to inspect, settle or forget it.
    ///
    /// `None` if no identity has that text.
    ///
    /// ```
    /// use idem_core::{Key, Operation};
    ///
    /// let charge = Operation::new("payments.charge", Some(&Key::of("acme")?), &Key::of("order 1")?);
    /// assert_eq!(Operation::from_text(charge.text()), Some(charge));
    /// # Ok::<_, idem_core::InvalidKey>(())
    /// ```
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once(SEPARATOR)?;
        let is_identity = rest.starts_with(DIGEST_MARK) || rest.contains(SEPARATOR);
        let is_plain = !text.contains(|c: char| matches!(c, '{' | '}') || c.is_whitespace() || c.is_control());
        let name = key::unescaped(name).filter(|_| is_identity && is_plain)?;
        Some(Self { name: name.into(), text: text.into() })
    }

    /// What the text forms of all identities of the operation `name` begin with.
    #[must_use]
    pub fn prefix_of(name: &str) -> String {
        let mut prefix = String::with_capacity(name.len() + 1);
        key::escape(&mut prefix, name);
        prefix.push(SEPARATOR);
        prefix
    }

    /// The operation's stable name, as metrics and logs show it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text form: ASCII punctuation `:`, `%`, never a brace, a space or a control character.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name as it can be handed to a recorder of metrics without a copy where it is a literal.
    pub(crate) fn shared_name(&self) -> Cow<'static, str> {
        self.name.clone()
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Keeps the parts of a scope apart from each other and from the key's: in escaped text `%` is always followed by two
/// hexadecimal digits.
const SCOPE_SEPARATOR: &str = "%,";

/// In escaped text `%` is always followed by two hexadecimal digits, so this can begin nothing but a digest.
const DIGEST_MARK: &str = "%~";

fn push_digest(text: &mut String, digest: &blake3::Hash) {
    text.push_str(DIGEST_MARK);
    for three in digest.as_bytes()[..24].chunks_exact(3) {
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        text.extend([18, 12, 6, 0].map(|at| char::from(ALPHABET[(bits >> at & 0x3f) as usize])));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;
    use std::collections::hash_map::Entry;

    fn text(name: &str, scope: &str, key: &str) -> String {
        let scope = (!scope.is_empty()).then(|| Key::of(scope).unwrap());
        Operation::new(name.to_owned(), scope.as_ref(), &Key::of(key).unwrap()).text().to_owned()
    }

    #[test]
    fn the_text_form_is_readable() {
        assert_eq!(text("orders.ship", "eu", "42"), "orders.ship:eu:42");
        assert_eq!(text("orders.ship", "", "42"), "orders.ship::42");
        assert_eq!(text("shop::ship", "", "a b{c}"), "shop%3A%3Aship::a%20b%7Bc%7D");
    }

    #[test]
    fn long_identities_keep_the_name_and_end_in_a_digest() {
        let (a, b) = (text("n", "", &"x".repeat(198)), text("n", "", &"x".repeat(199)));
        let (c, whole) = (text("n", "", &"x".repeat(197)), text("n", "", &"x".repeat(1 << 20)));
        assert_eq!(c.len(), Operation::MAX_TEXT);
        for long in [&a, &b, &whole] {
            assert!(long.starts_with("n:%~"), "{long}");
            assert_eq!(long.len(), "n:%~".len() + 32);
        }
        assert!(a != b && b != whole);
        assert_ne!(text("n", &"x".repeat(199), "y"), text("n", "", &format!("{}:y", "x".repeat(199))));
    }

    #[test]
    fn awkward_parts_never_collide() {
        let awkward = ["a", "a:b", "b:", ":", "%3A", "\\", "{x}", "é", "e\u{301}", "%~", "a\nb"];
        let long = "m".repeat(1 << 20);
        let mut seen = HashMap::new();
        for name in awkward {
            for scope in awkward.into_iter().chain([""]) {
                for key in awkward.into_iter().chain([long.as_str()]) {
                    let clash = seen.insert(text(name, scope, key), (name, scope, key));
                    assert_eq!(clash, None, "{name:?} {scope:?}");
                }
            }
        }
    }

    #[test]
    fn parts_of_a_scope_and_of_a_key_are_kept_apart() {
        let text = |scope: Option<Key>, key: Key| Operation::new("n", scope.as_ref(), &key).text().to_owned();
        let key = |value: &dyn crate::IdempotencyKey| Key::of(value).unwrap();
        assert_eq!(text(Some(key(&("eu", "acme"))), key(&"7")), "n:eu%,acme:7");
        assert_ne!(text(Some(key(&("eu", "acme"))), key(&"7")), text(Some(key(&"eu")), key(&("acme", "7"))));
        assert_ne!(text(None, key(&("b", "c"))), text(Some(key(&("", "b"))), key(&"c")));
        assert_ne!(text(Some(key(&("a", "b"))), key(&"c")), text(Some(key(&"a%,b")), key(&"c")));
    }

    #[test]
    fn an_operation_does_not_show_its_key() {
        let operation = Operation::new("n", None, &Key::of("secret").unwrap());
        assert_eq!(format!("{operation:?}"), r#"Operation { name: "n", .. }"#);
    }

    /// Case O-25: a name, a scope and a key of several parts each, of the letters that could be taken for something else.
    /// Short, so that equal ones are drawn as well; each draw is held against all before it.
    #[test]
    fn equal_identities_mean_equal_parts() {
        const LETTERS: [char; 9] = ['a', ':', ',', '{', '}', '%', '\\', '\0', 'é'];
        let part = || (0..draw(0, 3)).map(|_| LETTERS[draw(0, 8)]).collect();
        let parts = |least, most| -> Vec<String> { (0..draw(least, most)).map(|_| part()).collect() };
        let (mut seen, mut repeats) = (HashMap::new(), 0);
        for _ in 0..100_000 {
            let drawn = (parts(1, 1).remove(0), parts(0, 2), parts(1, 3));
            let (name, scope, key) = &drawn;
            let (Some(key), scope) = (key_of(key), key_of(scope)) else { continue };
            let text = Operation::new(name.clone(), scope.as_ref(), &key).text().to_owned();
            // A scope that is none, or is refused, is no scope.
            let drawn = (drawn.0, scope.map(|_| drawn.1), drawn.2);
            match seen.entry(text) {
                Entry::Occupied(first) => {
                    repeats += 1;
                    assert_eq!(*first.get(), drawn, "{}", first.key());
                }
                Entry::Vacant(place) => drop(place.insert(drawn)),
            }
        }
        assert!(repeats > 100, "only {repeats} equal ones were drawn");
    }

    fn draw(least: usize, most: usize) -> usize {
        rand::rng().random_range(least..=most)
    }

    fn key_of(parts: &[String]) -> Option<Key> {
        match parts {
            [] => None,
            [a] => Key::of(a).ok(),
            [a, b] => Key::of(&(a, b)).ok(),
            [a, b, c] => Key::of(&(a, b, c)).ok(),
            _ => unreachable!("at most three are drawn"),
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_a_hash_tag_or_a_line(key: String) {
            prop_assume!(Key::of(&key).is_ok());
            let awkward = text("n", "", &key).contains(['{', '}', ' ', '\n', '\r', '\0']);
            prop_assert!(!awkward);
        }
    }
}

//! How logs and traces show a call's key: as a short digest, unless the application wants it readable.

use std::fmt;
use std::sync::LazyLock;

use crate::operation::Operation;

/// How keys are shown.
#[derive(Clone)]
pub(crate) enum ShownKeys {
    /// As a digest under this secret, without which nobody can try keys out.
    Digested([u8; 32]),
    /// As they are.
    Readable,
}

impl ShownKeys {
    /// Digested under `secret`, so that the processes that share it show a key alike.
    pub(crate) fn under(secret: &[u8]) -> Self {
        Self::Digested(blake3::derive_key("idem 2026-11-30 keys in logs", secret))
    }

    pub(crate) fn of<'a>(&'a self, operation: &'a Operation) -> ShownKey<'a> {
        ShownKey { how: self, text: operation.text() }
    }
}

impl Default for ShownKeys {
    /// Digested under a secret that this process made up.
    fn default() -> Self {
        static SECRET: LazyLock<[u8; 32]> = LazyLock::new(rand::random);
        Self::Digested(*SECRET)
    }
}

/// An identity as logs and traces show it. What it costs, it costs where it is written.
pub(crate) struct ShownKey<'a> {
    how: &'a ShownKeys,
    text: &'a str,
}

impl fmt::Display for ShownKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.how {
            ShownKeys::Readable => f.write_str(self.text),
            ShownKeys::Digested(secret) => {
                let digest = blake3::keyed_hash(secret, self.text.as_bytes());
                // Enough to tell a day's keys apart, and short enough for a line.
                let short = digest.as_bytes().first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
                write!(f, "{short:016x}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

    fn shown(keys: &ShownKeys, key: &str) -> String {
        keys.of(&Operation::new("payments.charge", None, &Key::of(key).unwrap())).to_string()
    }

    #[test]
    fn a_digest_tells_keys_apart_and_nothing_else() {
        let keys = ShownKeys::default();
        assert_eq!(shown(&keys, "order-1"), shown(&ShownKeys::default(), "order-1"));
        assert_ne!(shown(&keys, "order-1"), shown(&keys, "order-2"));
        assert_eq!(shown(&keys, "order-1").len(), 16);
    }

    #[test]
    fn processes_that_share_a_secret_show_a_key_alike() {
        let (here, there) = (ShownKeys::under(b"a secret"), ShownKeys::under(b"a secret"));
        assert_eq!(shown(&here, "order-1"), shown(&there, "order-1"));
        assert_ne!(shown(&here, "order-1"), shown(&ShownKeys::under(b"another"), "order-1"));
    }

    #[test]
    fn a_readable_key_is_the_identity_as_the_store_has_it() {
        assert_eq!(shown(&ShownKeys::Readable, "order-1"), "payments.charge::order-1");
    }
}

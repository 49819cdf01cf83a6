//! Errors of Redis, mapped once: to what they mean for a step, without a key or a value in any text.

use std::fmt;
use std::io;

use idem_core::store::StoreError;
use redis::{ErrorKind, RedisError, Value};

/// Why a store could not be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The prefix is empty, or holds a brace, white space or a control character.
    #[error("the prefix is empty or holds a brace, white space or a control character")]
    Prefix,
    /// The URL is no Redis URL. It is not shown: it may hold a password.
    #[error("the URL is no Redis URL, as in redis://host:6379")]
    Url,
}

/// What is behind a store's error. Texts of the server are cut down to their first word: the rest may quote a key.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RedisCause {
    /// The server refused, with this word (`OOM`, `READONLY`, `NOAUTH`, …).
    Refused(&'static str),
    /// The connection failed.
    Connection(io::ErrorKind),
    /// The client library refused or failed, in its own category.
    Client(String),
    /// The reply is none that the step declares.
    UndeclaredReply,
}

impl fmt::Display for RedisCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(word) => write!(f, "the server refused: {word}"),
            Self::Connection(kind) => write!(f, "the connection failed: {kind}"),
            Self::Client(category) => write!(f, "the client failed: {category}"),
            Self::UndeclaredReply => f.write_str("the server's reply is none that this step declares"),
        }
    }
}

impl std::error::Error for RedisCause {}

/// The server's words that mean something to a step or to a person.
const WORDS: [&str; 18] = [
    "OOM",
    "READONLY",
    "NOREPLICAS",
    "MISCONF",
    "LOADING",
    "BUSY",
    "MASTERDOWN",
    "CLUSTERDOWN",
    "TRYAGAIN",
    "MOVED",
    "ASK",
    "CROSSSLOT",
    "NOAUTH",
    "WRONGPASS",
    "NOPERM",
    "NOSCRIPT",
    "WRONGTYPE",
    "UNKILLABLE",
];

/// How servers from Redis 7.0 say `NOPERM` of a command within a script.
const DENIED_TO_A_SCRIPT: [&str; 2] = ["The user executing the script can't", "ACL failure in script"];

/// The server's word in `text`. It need not come first: Redis 6.2 wraps what a script meets.
pub(crate) fn word(text: &str) -> &'static str {
    if DENIED_TO_A_SCRIPT.into_iter().any(|denied| text.contains(denied)) {
        return "NOPERM";
    }
    text.split(|c: char| !c.is_ascii_uppercase())
        .find_map(|token| WORDS.into_iter().find(|word| *word == token))
        .unwrap_or("ERR")
}

/// What went wrong on the way to an answer.
#[derive(Debug, Clone)]
pub(crate) enum Trouble {
    /// The server said no, with this word.
    Word(&'static str),
    /// The server does not know the syntax of a command.
    Syntax,
    /// No connection could be made, so nothing was sent.
    Unconnected(RedisCause),
    /// Something was sent; what became of it is unknown.
    Unanswered(RedisCause),
}

impl Trouble {
    /// Trouble while connecting.
    pub(crate) fn connecting(error: &RedisError) -> Self {
        Self::asking(error).before_any_call()
    }

    /// The same trouble, where nothing of a call was sent yet.
    pub(crate) fn before_any_call(self) -> Self {
        match self {
            Self::Unanswered(cause) => Self::Unconnected(cause),
            word => word,
        }
    }

    /// Trouble with a command that was handed to a connection.
    pub(crate) fn asking(error: &RedisError) -> Self {
        let detail = error.detail().unwrap_or_default();
        match error.kind() {
            ErrorKind::Server(_) | ErrorKind::Extension => match error.code().map_or("ERR", word) {
                "ERR" if detail.contains("syntax error") => Self::Syntax,
                "ERR" => Self::Word(word(detail)),
                word => Self::Word(word),
            },
            ErrorKind::AuthenticationFailed => Self::Word("WRONGPASS"),
            ErrorKind::Io => Self::Unanswered(RedisCause::Connection(io_kind(error))),
            _ => Self::Unanswered(RedisCause::Client(error.category().to_owned())),
        }
    }

    /// The server's refusal, where a script's reply gives it back: `{'refused', text}`.
    pub(crate) fn refused(reply: &Value) -> Option<Self> {
        let Value::Array(parts) = reply else { return None };
        match &parts[..] {
            [Value::BulkString(said), Value::BulkString(text)] if said == b"refused" => {
                Some(Self::Word(word(&String::from_utf8_lossy(text))))
            }
            _ => None,
        }
    }

    /// Whether the connection is not to be used again: it is broken, or its server has become another.
    pub(crate) fn spoils_the_lane(&self) -> bool {
        match self {
            Self::Word(word) => matches!(*word, "READONLY" | "LOADING" | "MASTERDOWN"),
            Self::Syntax => false,
            Self::Unconnected(_) | Self::Unanswered(_) => true,
        }
    }
}

impl From<Trouble> for StoreError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Word(word) => Self::Unavailable(RedisCause::Refused(word).into()),
            Trouble::Syntax => Self::Unavailable(RedisCause::Refused("ERR").into()),
            Trouble::Unconnected(cause) => Self::Unavailable(cause.into()),
            Trouble::Unanswered(cause) => Self::Ambiguous(cause.into()),
        }
    }
}

fn io_kind(error: &RedisError) -> io::ErrorKind {
    if error.is_timeout() {
        io::ErrorKind::TimedOut
    } else if error.is_connection_refusal() {
        io::ErrorKind::ConnectionRefused
    } else if error.is_connection_dropped() {
        io::ErrorKind::ConnectionReset
    } else {
        io::ErrorKind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_found_wherever_it_stands() {
        for text in [
            "OOM command not allowed when used memory > 'maxmemory'.",
            "@user_script: 1: -OOM command not allowed when used memory > 'maxmemory'.",
            "ERR Error running script (call to f_0a): @user_script:1: -OOM command not allowed",
        ] {
            assert_eq!(word(text), "OOM");
        }
        assert_eq!(word("ERR unknown command 'EVALSHA', with args beginning with: 'secret'"), "ERR");
        assert_eq!(word("ERR The user executing the script can't run this command or subcommand"), "NOPERM");
        assert_eq!(word("BUSY Redis is busy running a script."), "BUSY");
    }
}

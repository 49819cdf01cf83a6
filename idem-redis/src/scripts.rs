//! The scripts as typed calls, a file per verb: a request's fields to KEYS and ARGV, a word reply to an enum.

mod claim;
mod complete;
mod forget;
mod inspect;
mod release;
mod renew;
mod settle;

use idem_core::protocol::UNCERTAIN_LINGER;
use idem_core::record::Corrupt;
use redis::{Cmd, Value};

use crate::error::{RedisCause, Trouble};
use crate::lanes::Lane;

pub(crate) use claim::claim;
pub(crate) use complete::complete;
pub(crate) use forget::forget;
pub(crate) use inspect::{inspect, inspect_all};
pub(crate) use release::release;
pub(crate) use renew::renew;
pub(crate) use settle::settle;

/// The script of a verb that judges a record.
macro_rules! script {
    ($verb:literal) => {
        std::sync::LazyLock::new(|| {
            $crate::scripts::Script::new(concat!(
                include_str!("../../lua/record.lua"),
                include_str!(concat!("../../lua/", $verb, ".lua"))
            ))
        })
    };
}
use script;

struct Script {
    text: &'static str,
    digest: String,
}

impl Script {
    fn new(text: &'static str) -> Self {
        Self { text, digest: redis::Script::new(text).get_hash().to_owned() }
    }

    /// Calls the script by its digest, by its text where the server does not know it (any more). Never `SCRIPT LOAD`: the
    /// server may forget it again in between.
    /// `room` is about what the arguments take.
    async fn call(
        &self,
        lane: &mut Lane,
        key: &str,
        room: usize,
        arguments: impl Fn(&mut Cmd),
    ) -> Result<WordReply, Trouble> {
        let command = |name: &str, script: &str| {
            let mut command = Cmd::with_capacity(12, script.len() + key.len() + room + 192);
            command.arg(name).arg(script).arg(1).arg(key);
            arguments(&mut command);
            command
        };
        let answer = match lane.ask(&command("EVALSHA", &self.digest)).await {
            Err(Trouble::Word("NOSCRIPT")) => lane.ask(&command("EVAL", self.text)).await,
            answer => answer,
        };
        WordReply::read(answer)
    }
}

/// A script's reply: a word, or a word and one value.
struct WordReply(Value);

impl WordReply {
    fn read(answer: Result<Value, Trouble>) -> Result<Self, Trouble> {
        match answer {
            Ok(reply @ (Value::BulkString(_) | Value::Array(_))) => {
                Trouble::refused(&reply).map_or(Ok(Self(reply)), Err)
            }
            Ok(_) => Err(undeclared()),
            Err(Trouble::Word("WRONGTYPE")) => Ok(Self::foreign_type()),
            Err(trouble) => Err(trouble),
        }
    }

    /// The reply to a key of another type: a script does not get to say it, the server does.
    fn foreign_type() -> Self {
        Self(Value::Array(["corrupt", FOREIGN_TYPE].map(|word| Value::BulkString(word.into())).into()))
    }

    /// The word, and what follows it. Anything else, or no word at all, is never declared.
    fn parts(&self) -> (&str, Option<&Value>) {
        match &self.0 {
            Value::BulkString(word) => (std::str::from_utf8(word).unwrap_or_default(), None),
            Value::Array(parts) => match &parts[..] {
                [Value::BulkString(word), value] => (std::str::from_utf8(word).unwrap_or_default(), Some(value)),
                _ => ("", None),
            },
            _ => ("", None),
        }
    }
}

const FOREIGN_TYPE: &str = "foreign_type";

/// The reply that all scripts share: what is corrupt.
fn corrupt(reply: (&str, Option<&Value>)) -> Result<Corrupt, Trouble> {
    match reply {
        ("corrupt", Some(Value::BulkString(what))) => match &what[..] {
            b"unreadable" => Ok(Corrupt::Unreadable),
            b"unknown_version" => Ok(Corrupt::UnknownVersion),
            b"unknown_scheme" => Ok(Corrupt::UnknownScheme),
            b"no_expiry" => Ok(Corrupt::NoExpiry),
            b"fence_limit" => Ok(Corrupt::FenceLimit),
            other if other == FOREIGN_TYPE.as_bytes() => Ok(Corrupt::ForeignType),
            _ => Err(undeclared()),
        },
        _ => Err(undeclared()),
    }
}

/// How long an unknown outcome is remembered where other records of its kind live for `life`, in milliseconds.
fn memory(life: u64) -> u64 {
    life.max(UNCERTAIN_LINGER)
}

fn undeclared() -> Trouble {
    Trouble::Unanswered(RedisCause::UndeclaredReply)
}

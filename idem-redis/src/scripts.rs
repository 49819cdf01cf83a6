//! The scripts as typed calls: a request's fields to KEYS and ARGV, a word reply to an enum.

use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use idem_core::record::{Corrupt, Record};
use idem_core::store::{
    Claim, ClaimReply, Complete, CompleteReply, Grant, Release, ReleaseReply, Renew, RenewReply, Replay,
};
use redis::{Cmd, Value};

use crate::error::{RedisCause, Trouble};
use crate::lanes::Lane;

macro_rules! script {
    ($verb:literal) => {
        LazyLock::new(|| {
            Script::new(concat!(include_str!("../lua/record.lua"), include_str!(concat!("../lua/", $verb, ".lua"))))
        })
    };
}

static CLAIM: LazyLock<Script> = script!("claim");
static RENEW: LazyLock<Script> = script!("renew");
static COMPLETE: LazyLock<Script> = script!("complete");
static RELEASE: LazyLock<Script> = script!("release");

/// `claim.lua`: the whole truth about a claim; `first` is the record of the claim, were it the first, and `seen` the one
/// that the fast claim met.
pub(crate) async fn claim(
    lane: &mut Lane,
    key: &str,
    request: &Claim,
    first: &Bytes,
    seen: &Bytes,
) -> Result<ClaimReply, Trouble> {
    let reply = CLAIM.call(lane, key, first.len() + seen.len(), |command| {
        command.arg(&first[..]).arg(request.linger).arg(request.lease).arg(&seen[..]);
    });
    Ok(match reply.await?.parts() {
        ("acquired" | "replay", Some(Value::BulkString(raw))) => match read(raw) {
            Ok(record) => recognised(&record).ok_or_else(undeclared)?,
            Err(corrupt) => ClaimReply::Corrupt(corrupt),
        },
        ("in_flight", Some(&Value::Int(left))) => {
            ClaimReply::InFlight { left: Duration::from_millis(left.unsigned_abs()) }
        }
        ("mismatch", None) => ClaimReply::Mismatch,
        ("stale", None) => ClaimReply::Stale,
        other => ClaimReply::Corrupt(corrupt(other)?),
    })
}

/// `renew.lua`.
pub(crate) async fn renew(lane: &mut Lane, key: &str, request: &Renew) -> Result<RenewReply, Trouble> {
    let claimed = request.record.to_bytes();
    let reply = RENEW.call(lane, key, claimed.len(), |command| {
        command.arg(&claimed[..]).arg(request.linger).arg(u8::from(request.restore));
    });
    Ok(match reply.await?.parts() {
        ("renewed", None) => RenewReply::Renewed,
        ("reasserted", None) => RenewReply::Reasserted,
        ("absent", None) => RenewReply::Absent,
        ("lost", None) => RenewReply::Lost,
        other => RenewReply::Corrupt(corrupt(other)?),
    })
}

/// `complete.lua`.
pub(crate) async fn complete(lane: &mut Lane, key: &str, request: &Complete) -> Result<CompleteReply, Trouble> {
    let settled = request.record().to_bytes();
    let reply = COMPLETE.call(lane, key, settled.len(), |command| {
        command
            .arg(&request.owner.token.to_text())
            .arg(&settled[..])
            .arg(request.retention)
            .arg(u8::from(request.restore));
    });
    Ok(match reply.await?.parts() {
        ("completed", None) => CompleteReply::Completed,
        ("already", None) => CompleteReply::Already,
        ("restored", None) => CompleteReply::Restored,
        ("absent", None) => CompleteReply::Absent,
        ("lost", None) => CompleteReply::Lost,
        other => CompleteReply::Corrupt(corrupt(other)?),
    })
}

/// `release.lua`.
pub(crate) async fn release(lane: &mut Lane, key: &str, request: &Release) -> Result<ReleaseReply, Trouble> {
    let reply = RELEASE.call(lane, key, 0, |command| {
        command.arg(&request.token.to_text());
        match request.fence {
            Some(fence) => command.arg(&fence.to_text()),
            None => command.arg(""),
        };
        command.arg(request.retention);
    });
    Ok(match reply.await?.parts() {
        ("released", None) => ReleaseReply::Released,
        ("unchanged", None) => ReleaseReply::Unchanged,
        other => ReleaseReply::Corrupt(corrupt(other)?),
    })
}

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
            let mut command = Cmd::with_capacity(9, script.len() + key.len() + room + 160);
            command.arg(name).arg(script).arg(1).arg(key);
            arguments(&mut command);
            command
        };
        let answer = match lane.ask(&command("EVALSHA", &self.digest)).await {
            Err(Trouble::Word("NOSCRIPT")) => lane.ask(&command("EVAL", self.text)).await,
            answer => answer,
        };
        match answer {
            Ok(reply @ (Value::BulkString(_) | Value::Array(_))) => {
                Trouble::refused(&reply).map_or(Ok(WordReply(reply)), Err)
            }
            Ok(_) => Err(undeclared()),
            Err(Trouble::Word("WRONGTYPE")) => Ok(WordReply::foreign_type()),
            Err(trouble) => Err(trouble),
        }
    }
}

/// A script's reply: a word, or a word and one value.
struct WordReply(Value);

impl WordReply {
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

fn read(raw: &[u8]) -> Result<Record, Corrupt> {
    Record::from_bytes(&Bytes::copy_from_slice(raw))
}

/// What a record says to the claim that it was handed to: the state tells.
fn recognised(record: &Record) -> Option<ClaimReply> {
    Grant::of(record).map(ClaimReply::Acquired).or_else(|| Replay::of(record).map(ClaimReply::Replay))
}

fn undeclared() -> Trouble {
    Trouble::Unanswered(RedisCause::UndeclaredReply)
}

//! `claim.lua`.

use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use idem_core::record::{Record, attempt_text};
use idem_core::store::{Claim, ClaimReply, Grant, OnCrash, Replay};
use redis::Value;

use super::{Script, corrupt, memory, script, undeclared};
use crate::error::Trouble;
use crate::lanes::Lane;

static CLAIM: LazyLock<Script> = script!("claim");

/// The whole truth about a claim; `first` is the record of the claim, were it the first, and `seen` the one that the fast
/// claim met.
pub(crate) async fn claim(
    lane: &mut Lane,
    key: &str,
    request: &Claim,
    first: &Bytes,
    seen: &Bytes,
) -> Result<ClaimReply, Trouble> {
    let reply = CLAIM.call(lane, key, first.len() + seen.len(), |command| {
        command.arg(&first[..]).arg(request.linger).arg(request.lease).arg(on_crash(request.on_crash));
        match request.max_attempts {
            Some(most) => command.arg(&attempt_text(most)),
            None => command.arg(""),
        };
        command.arg(memory(request.linger));
        // With it the command has more than ten words, which a server takes from nobody who did not log in: it would not
        // say that it wants a password. Whoever has seen a record is known to it.
        if !seen.is_empty() {
            command.arg(&seen[..]);
        }
    });
    Ok(match reply.await?.parts() {
        ("acquired", Some(Value::BulkString(raw))) => {
            of_record(raw, |record| Grant::of(record).map(ClaimReply::Acquired))?
        }
        ("replay", Some(Value::BulkString(raw))) => {
            of_record(raw, |record| Replay::of(record).map(ClaimReply::Replay))?
        }
        ("uncertain", Some(Value::BulkString(raw))) => {
            of_record(raw, |record| Some(ClaimReply::Uncertain { fence: record.fence }))?
        }
        ("in_flight", Some(&Value::Int(left))) => {
            ClaimReply::InFlight { left: Duration::from_millis(left.unsigned_abs()) }
        }
        ("exhausted", Some(Value::BulkString(how))) if how == b"crashed" => ClaimReply::Exhausted { crashed: true },
        ("exhausted", Some(Value::BulkString(how))) if how == b"released" => ClaimReply::Exhausted { crashed: false },
        ("mismatch", None) => ClaimReply::Mismatch,
        ("stale", None) => ClaimReply::Stale,
        other => ClaimReply::Corrupt(corrupt(other)?),
    })
}

/// As `claim.lua` reads it: whatever is neither of the other two refuses, and so does a choice that is not known here.
const fn on_crash(choice: OnCrash) -> &'static str {
    match choice {
        OnCrash::Rerun => "rerun",
        OnCrash::Recover => "recover",
        _ => "refuse",
    }
}

/// What the record that comes with a word says to the claim.
fn of_record(raw: &[u8], says: impl Fn(&Record) -> Option<ClaimReply>) -> Result<ClaimReply, Trouble> {
    match Record::from_bytes(&Bytes::copy_from_slice(raw)) {
        Ok(record) => says(&record).ok_or_else(undeclared),
        Err(corrupt) => Ok(ClaimReply::Corrupt(corrupt)),
    }
}

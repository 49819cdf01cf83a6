//! `release.lua`.

use std::sync::LazyLock;

use idem_core::store::{GivenUp, Release, ReleaseReply};

use super::{Script, corrupt, memory, script};
use crate::error::Trouble;
use crate::lanes::Lane;

static RELEASE: LazyLock<Script> = script!("release");

pub(crate) async fn release(lane: &mut Lane, key: &str, request: &Release) -> Result<ReleaseReply, Trouble> {
    let reply = RELEASE.call(lane, key, 0, |command| {
        command.arg(&request.token.to_text());
        match request.fence {
            Some(fence) => command.arg(&fence.to_text()),
            None => command.arg(""),
        };
        command.arg(given_up(request.given_up)).arg(request.retention).arg(memory(request.retention));
    });
    Ok(match reply.await?.parts() {
        ("released", None) => ReleaseReply::Released,
        ("uncertain", None) => ReleaseReply::Uncertain,
        ("unchanged", None) => ReleaseReply::Unchanged,
        other => ReleaseReply::Corrupt(corrupt(other)?),
    })
}

/// What is not known here is held: nothing runs on it unasked.
const fn given_up(how: GivenUp) -> &'static str {
    match how {
        GivenUp::Released => "released",
        GivenUp::Rejected => "rejected",
        _ => "held",
    }
}

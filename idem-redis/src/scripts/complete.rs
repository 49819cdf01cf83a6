//! `complete.lua`.

use std::sync::LazyLock;

use idem_core::store::{Complete, CompleteReply};

use super::{Script, corrupt, script};
use crate::error::Trouble;
use crate::lanes::Lane;

static COMPLETE: LazyLock<Script> = script!("complete");

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

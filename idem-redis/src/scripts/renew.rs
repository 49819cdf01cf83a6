//! `renew.lua`.

use std::sync::LazyLock;

use idem_core::store::{Renew, RenewReply};

use super::{Script, corrupt, script};
use crate::error::Trouble;
use crate::lanes::Lane;

static RENEW: LazyLock<Script> = script!("renew");

pub(crate) async fn renew(lane: &mut Lane, key: &str, request: &Renew) -> Result<RenewReply, Trouble> {
    let claimed = request.record.to_bytes();
    let reply = RENEW.call(lane, key, claimed.len(), |command| {
        command.arg(&claimed[..]).arg(request.linger).arg(u8::from(request.restore));
    });
    Ok(match reply.await?.parts() {
        ("renewed", None) => RenewReply::Renewed,
        ("reasserted", None) => RenewReply::Reasserted,
        ("uncertain", None) => RenewReply::Uncertain,
        ("absent", None) => RenewReply::Absent,
        ("lost", None) => RenewReply::Lost,
        other => RenewReply::Corrupt(corrupt(other)?),
    })
}

//! `forget.lua`.

use std::sync::LazyLock;

use idem_core::store::{Forget, ForgetReply};

use super::{Script, corrupt, script};
use crate::error::Trouble;
use crate::lanes::Lane;

static FORGET: LazyLock<Script> = script!("forget");

pub(crate) async fn forget(lane: &mut Lane, key: &str, request: &Forget) -> Result<ForgetReply, Trouble> {
    let reply = FORGET.call(lane, key, 0, |command| {
        command.arg(&request.fence.to_text()).arg(u8::from(request.force)).arg(request.retention);
    });
    Ok(match reply.await?.parts() {
        ("deleted", None) => ForgetReply::Deleted,
        ("released", None) => ForgetReply::Released,
        ("live", None) => ForgetReply::Live,
        ("changed", None) => ForgetReply::Changed,
        ("absent", None) => ForgetReply::Absent,
        other => ForgetReply::Corrupt(corrupt(other)?),
    })
}

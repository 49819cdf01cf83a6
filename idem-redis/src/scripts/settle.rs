//! `settle.lua`.

use std::sync::LazyLock;

use bytes::Bytes;
use idem_core::Fingerprint;
use idem_core::record::Record;
use idem_core::store::{Settle, SettleReply};

use super::{Script, corrupt, script};
use crate::error::Trouble;
use crate::lanes::Lane;

static SETTLE: LazyLock<Script> = script!("settle");

pub(crate) async fn settle(lane: &mut Lane, key: &str, request: &Settle) -> Result<SettleReply, Trouble> {
    let ending = ending(request);
    let reply = SETTLE.call(lane, key, ending.len(), |command| {
        command.arg(&request.fence.to_text()).arg(&ending[..]).arg(request.retention);
    });
    Ok(match reply.await?.parts() {
        ("settled", None) => SettleReply::Settled,
        ("live", None) => SettleReply::Live,
        ("changed", None) => SettleReply::Changed,
        ("absent", None) => SettleReply::Absent,
        other => SettleReply::Corrupt(corrupt(other)?),
    })
}

/// A record that ended so; what it says of attempt and arguments is not known here, and the script takes neither from it.
fn ending(request: &Settle) -> Bytes {
    let Some(state) = request.settlement.state() else { return Bytes::new() };
    Record { fingerprint: Some(Fingerprint::from_bytes([0; 16])), fence: request.fence, attempt: 1, state }.to_bytes()
}

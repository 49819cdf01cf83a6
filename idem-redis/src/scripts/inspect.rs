//! `inspect.lua`.

use std::sync::LazyLock;

use bytes::{Bytes, BytesMut};
use idem_core::protocol::{self, Stored};
use idem_core::record::{Corrupt, Record};
use idem_core::store::InspectReply;
use redis::{Cmd, Pipeline, Value};

use super::{Script, WordReply, corrupt, undeclared};
use crate::error::Trouble;
use crate::lanes::Lane;

/// Alone: it judges no record.
static INSPECT: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("../../lua/inspect.lua")));

pub(crate) async fn inspect(lane: &mut Lane, key: &str) -> Result<InspectReply, Trouble> {
    told(&INSPECT.call(lane, key, 0, |_| ()).await?)
}

/// The replies for all `keys`, in one round trip.
pub(crate) async fn inspect_all(lane: &mut Lane, keys: &[Vec<u8>]) -> Result<Vec<InspectReply>, Trouble> {
    let mut pipeline = Pipeline::with_capacity(keys.len());
    for (at, key) in keys.iter().enumerate() {
        // The text comes first, so that the server knows the script by its digest from there on.
        let (name, script) = if at == 0 { ("EVAL", INSPECT.text) } else { ("EVALSHA", &INSPECT.digest[..]) };
        let mut command = Cmd::with_capacity(4, script.len() + key.len() + 16);
        command.arg(name).arg(script).arg(1).arg(key);
        pipeline.add_command(command);
    }
    let answers = lane.ask_all(&pipeline, keys.len()).await?;
    answers.into_iter().map(|answer| told(&WordReply::read(answer)?)).collect()
}

fn told(reply: &WordReply) -> Result<InspectReply, Trouble> {
    Ok(match reply.parts() {
        ("found", Some(Value::Array(found))) => match &found[..] {
            [Value::BulkString(header), Value::Int(left)] => judged(header, *left),
            _ => return Err(undeclared()),
        },
        ("absent", None) => InspectReply::Absent,
        other => InspectReply::Corrupt(corrupt(other)?),
    })
}

fn judged(header: &[u8], left: i64) -> InspectReply {
    let left = u64::try_from(left).ok();
    match read(header) {
        Ok(record) => protocol::inspect(Some(Stored { record: &record, left })),
        Err(corrupt) => InspectReply::Corrupt(corrupt),
    }
}

/// A record but for its payload. Nobody decodes that here, so a codec that is not known is as good as none.
fn read(header: &[u8]) -> Result<Record, Corrupt> {
    match Record::from_bytes(&Bytes::copy_from_slice(header)) {
        Err(Corrupt::UnknownCodec) => {
            let mut without = BytesMut::from(header);
            without[2] = b'-';
            Record::from_bytes(&without.freeze())
        }
        read => read,
    }
}

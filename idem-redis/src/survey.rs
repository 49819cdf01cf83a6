//! A part of the store, as one page: a bounded walk over keys, then what their records say.

use idem_core::store::{Cursor, Found, InspectReply, Page, Survey};
use redis::{Cmd, Value};

use crate::error::{RedisCause, Trouble};
use crate::keyspace::Keyspace;
use crate::lanes::Lane;
use crate::scripts;

/// About as many keys does one walk pass, whether they are the store's or not: well under a millisecond of a server that
/// does nothing else meanwhile.
const KEYS_A_PAGE: usize = 500;

pub(crate) async fn page(lane: &mut Lane, keyspace: &Keyspace, request: &Survey) -> Result<Page, Trouble> {
    let (next, keys) = walk(lane, &keyspace.pattern(request.name.as_deref()), request.from).await?;
    let keys: Vec<_> = keys.into_iter().filter(|key| keyspace.text(key).is_some()).collect();
    let replies = if keys.is_empty() { Vec::new() } else { scripts::inspect_all(lane, &keys).await? };
    let found = keys.iter().zip(replies).filter_map(|(key, reply)| {
        // It may have ended since the walk.
        let text = keyspace.text(key).filter(|_| reply != InspectReply::Absent)?;
        Some(Found { text: text.to_owned(), reply })
    });
    Ok(Page { found: found.collect(), next })
}

async fn walk(lane: &mut Lane, pattern: &str, from: Option<Cursor>) -> Result<(Option<Cursor>, Vec<Vec<u8>>), Trouble> {
    let mut command = Cmd::with_capacity(6, pattern.len() + 64);
    command.arg("SCAN").arg(from.map_or(0, |Cursor(at)| at));
    command.arg("MATCH").arg(pattern).arg("COUNT").arg(KEYS_A_PAGE);
    let undeclared = || Trouble::Unanswered(RedisCause::UndeclaredReply);
    let Value::Array(reply) = lane.ask(&command).await? else { return Err(undeclared()) };
    let [Value::BulkString(next), Value::Array(keys)] = &reply[..] else { return Err(undeclared()) };
    let next = std::str::from_utf8(next).ok().and_then(|next| next.parse().ok()).ok_or_else(undeclared)?;
    let keys = keys.iter().map(|key| match key {
        Value::BulkString(key) => Ok(key.clone()),
        _ => Err(undeclared()),
    });
    Ok(((next != 0).then_some(Cursor(next)), keys.collect::<Result<_, _>>()?))
}

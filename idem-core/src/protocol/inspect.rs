//! `inspect`: what is known of an identity. In Lua: `inspect.lua`, which only reads.

use std::time::Duration;

use crate::record::State;
use crate::store::{InspectReply, Inspection, Standing};

use super::Stored;

/// Tells what a record says.
#[must_use]
pub fn inspect(stored: Option<Stored<'_>>) -> InspectReply {
    let Some(stored) = stored else { return InspectReply::Absent };
    let record = stored.record;
    let standing = match &record.state {
        State::InFlight(claimed) => match stored.lease_left(claimed) {
            Ok(0) => Standing::Abandoned,
            Ok(left) => Standing::InFlight { left: Duration::from_millis(left) },
            Err(corrupt) => return InspectReply::Corrupt(corrupt),
        },
        State::Released(_) => Standing::Released,
        State::Uncertain(_) => Standing::Uncertain,
        State::Completed(_) => Standing::Completed,
        State::Failed(_) => Standing::Failed,
    };
    let expires_in = stored.left.map(Duration::from_millis);
    InspectReply::Known(Inspection { standing, fence: record.fence, attempt: record.attempt, expires_in })
}

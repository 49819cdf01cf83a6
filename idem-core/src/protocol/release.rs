//! `release`: give one's own claim up, unfinished. In Lua: `release.lua`.

use crate::record::{Claimed, Record, State};
use crate::store::{Release, ReleaseReply};

use super::{Step, Stored};

/// Decides a release.
///
/// The record stays and keeps the token: a late message of the released claim must not win again, and whoever claims next
/// gets a greater fence.
#[must_use]
pub fn release(stored: Option<Stored<'_>>, request: &Release) -> Step<ReleaseReply> {
    match stored {
        Some(Stored { record: record @ Record { state: State::InFlight(claimed), .. }, .. })
            if claimed.token == request.token && request.fence.is_none_or(|fence| fence == record.fence) =>
        {
            // A claim that was never answered has run nothing.
            let origin = claimed.origin.after_release(request.fence.is_some());
            let record = Record { state: State::Released(Claimed { origin, ..*claimed }), ..record.clone() };
            Step::put(ReleaseReply::Released, record, request.retention)
        }
        _ => Step::unchanged(ReleaseReply::Unchanged),
    }
}

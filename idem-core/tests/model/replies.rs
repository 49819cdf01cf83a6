//! What a server answers, as far as a world tells replies apart.

use idem_core::record::{Ending, Origin};
use idem_core::store::{ClaimReply, CompleteReply, ForgetReply, Grant, ReleaseReply, RenewReply, SettleReply};

use super::network::{COMPLETED, FAILED};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reply {
    Acquired {
        fence: u8,
        attempt: u8,
        origin: u8,
    },
    InFlight {
        left: u64,
    },
    Replay {
        of: u8,
        fence: u8,
        ending: u8,
    },
    Mismatch,
    Stale,
    Uncertain,
    Exhausted {
        crashed: bool,
    },
    Renewed,
    Reasserted,
    Completed,
    Already,
    Restored,
    Absent,
    Lost,
    Released,
    Unchanged,
    Settled,
    Live,
    Changed,
    Deleted,
    /// No world has a record that cannot be read.
    Corrupt,
}

/// How a claim was won, in the order of [`origin`].
pub(crate) const RELEASED: u8 = 1;
pub(crate) const TAKEOVER: u8 = 2;
pub(crate) const DOUBT: u8 = 4;
pub(crate) const ORIGINS: [Origin; 5] =
    [Origin::First, Origin::Released, Origin::Takeover, Origin::AfterTakeover, Origin::Doubt];

pub(crate) fn origin(origin: Origin) -> u8 {
    small(ORIGINS.iter().position(|known| *known == origin).expect("a known origin") as u64)
}

pub(crate) fn small(number: u64) -> u8 {
    u8::try_from(number).expect("a small number in a small world")
}

impl From<Grant> for Reply {
    fn from(grant: Grant) -> Self {
        let (fence, attempt) = (small(grant.fence.get()), small(grant.attempt.into()));
        Self::Acquired { fence, attempt, origin: origin(grant.origin) }
    }
}

impl From<ClaimReply> for Reply {
    fn from(reply: ClaimReply) -> Self {
        match reply {
            ClaimReply::Acquired(grant) => grant.into(),
            ClaimReply::InFlight { left } => Self::InFlight { left: u64::try_from(left.as_millis()).expect("a lease") },
            ClaimReply::Replay(known) => Self::Replay {
                of: known.kept.payload[0],
                fence: small(known.fence.get()),
                ending: if known.ending == Ending::Completed { COMPLETED } else { FAILED },
            },
            ClaimReply::Mismatch => Self::Mismatch,
            ClaimReply::Stale => Self::Stale,
            ClaimReply::Uncertain { .. } => Self::Uncertain,
            ClaimReply::Exhausted { crashed } => Self::Exhausted { crashed },
            _ => Self::Corrupt,
        }
    }
}

impl From<RenewReply> for Reply {
    fn from(reply: RenewReply) -> Self {
        match reply {
            RenewReply::Renewed => Self::Renewed,
            RenewReply::Reasserted => Self::Reasserted,
            RenewReply::Uncertain => Self::Uncertain,
            RenewReply::Absent => Self::Absent,
            RenewReply::Lost => Self::Lost,
            _ => Self::Corrupt,
        }
    }
}

impl From<CompleteReply> for Reply {
    fn from(reply: CompleteReply) -> Self {
        match reply {
            CompleteReply::Completed => Self::Completed,
            CompleteReply::Already => Self::Already,
            CompleteReply::Restored => Self::Restored,
            CompleteReply::Absent => Self::Absent,
            CompleteReply::Lost => Self::Lost,
            _ => Self::Corrupt,
        }
    }
}

impl From<ReleaseReply> for Reply {
    fn from(reply: ReleaseReply) -> Self {
        match reply {
            ReleaseReply::Released => Self::Released,
            ReleaseReply::Uncertain => Self::Uncertain,
            ReleaseReply::Unchanged => Self::Unchanged,
            _ => Self::Corrupt,
        }
    }
}

impl From<SettleReply> for Reply {
    fn from(reply: SettleReply) -> Self {
        match reply {
            SettleReply::Settled => Self::Settled,
            SettleReply::Live => Self::Live,
            SettleReply::Changed => Self::Changed,
            SettleReply::Absent => Self::Absent,
            _ => Self::Corrupt,
        }
    }
}

impl From<ForgetReply> for Reply {
    fn from(reply: ForgetReply) -> Self {
        match reply {
            ForgetReply::Deleted => Self::Deleted,
            ForgetReply::Released => Self::Released,
            ForgetReply::Live => Self::Live,
            ForgetReply::Changed => Self::Changed,
            ForgetReply::Absent => Self::Absent,
            _ => Self::Corrupt,
        }
    }
}

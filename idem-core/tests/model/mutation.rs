//! Guards that are taken away: what the code is shown, what it writes, or how a worker counts is changed.

use super::server::{NOBODY, RELEASED, Reply};
use super::state::{Kind, Rec, Verb};

/// A tick in milliseconds.
const A_TICK: u16 = 100;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mutation {
    ClaimSeesNothing,
    LiveLeaseTakenOver,
    OwnTokenNotRecognised,
    StaleTokenGranted,
    ProposedFenceOnly,
    AttemptNotCarriedOn,
    FingerprintUnchecked,
    TakeoverUntold,
    RenewAnybody,
    RenewByTokenAlone,
    RenewRevivesReleased,
    CompleteAnybody,
    CompleteByTokenAlone,
    CompleteOverSettled,
    AlreadyNotRecognised,
    ReleaseAnybody,
    ReleaseOverSettled,
    ReleaseDeletes,
    ReleaseForgetsTakeover,
    FloorTooHigh,
    FloorTooLow,
    /// These are of the worker's count.
    LeaseFromRepeatedClaim,
    RenewalFromItsReply,
    BodyOnDeadLease,
    RestoreThoughUnsure,
    RetractAfterBody,
}

impl Mutation {
    /// The record that the code is shown in place of `record`.
    pub(crate) fn show(self, record: Rec, verb: Verb, from: u8, fence: u8, fingerprint: u8) -> Rec {
        let in_flight = record.kind == Kind::InFlight;
        match (self, verb) {
            (Self::ClaimSeesNothing, Verb::Claim) if record.kind != Kind::Completed => Rec::NONE,
            (Self::LiveLeaseTakenOver, Verb::Claim) if in_flight && record.owner != from => Rec { left: 0, ..record },
            (Self::OwnTokenNotRecognised, Verb::Claim) if in_flight => Rec { owner: NOBODY, ..record },
            (Self::StaleTokenGranted, Verb::Claim) if record.kind == Kind::Released => Rec { owner: NOBODY, ..record },
            (Self::FingerprintUnchecked, Verb::Claim) if record.kind != Kind::None => Rec { fingerprint, ..record },
            (Self::RenewAnybody, Verb::Renew)
            | (Self::CompleteAnybody, Verb::Complete)
            | (Self::ReleaseAnybody, Verb::Release)
                if in_flight =>
            {
                Rec { owner: from, fence, ..record }
            }
            (Self::RenewByTokenAlone, Verb::Renew) | (Self::CompleteByTokenAlone, Verb::Complete) if in_flight => {
                Rec { fence, ..record }
            }
            (Self::RenewRevivesReleased, Verb::Renew) if record.kind == Kind::Released => {
                Rec { kind: Kind::InFlight, ..record }
            }
            (Self::CompleteOverSettled, Verb::Complete) if record.kind == Kind::Completed => Rec::NONE,
            (Self::ReleaseOverSettled, Verb::Release) if record.kind == Kind::Completed => {
                Rec { kind: Kind::InFlight, owner: from, fence, ..record }
            }
            _ => record,
        }
    }

    /// What the world sees of the decision about `before`.
    pub(crate) fn tamper(self, before: Rec, verb: Verb, proposed: u8, reply: Reply, after: Rec) -> (Reply, Rec) {
        let wrote = after != before;
        match (self, reply) {
            // The code extended the record that it was shown; the real one lives on.
            (Self::RenewAnybody | Self::RenewByTokenAlone, Reply::Renewed) => {
                (reply, Rec { left: after.left, ..before })
            }
            (Self::ReleaseAnybody, Reply::Released) => {
                (reply, Rec { owner: before.owner, fence: before.fence, ..after })
            }
            (Self::ProposedFenceOnly, Reply::Acquired { attempt, origin, .. }) if wrote => {
                let fence = proposed;
                (Reply::Acquired { fence, attempt, origin }, Rec { fence, ..after })
            }
            (Self::AttemptNotCarriedOn, Reply::Acquired { fence, origin, .. }) if wrote => {
                (Reply::Acquired { fence, attempt: 1, origin }, Rec { attempt: 1, ..after })
            }
            (Self::TakeoverUntold, Reply::Acquired { fence, attempt, .. })
                if before.kind == Kind::InFlight && wrote =>
            {
                (Reply::Acquired { fence, attempt, origin: RELEASED }, Rec { origin: RELEASED, ..after })
            }
            (Self::AlreadyNotRecognised, Reply::Already) => (Reply::Lost, after),
            (Self::ReleaseDeletes, Reply::Released) => (reply, Rec::NONE),
            (Self::ReleaseForgetsTakeover, Reply::Released) => (reply, Rec { origin: RELEASED, ..after }),
            (Self::FloorTooHigh, Reply::Acquired { .. }) if wrote => {
                (reply, Rec { floor: after.floor + A_TICK, ..after })
            }
            (Self::FloorTooLow, Reply::Acquired { .. }) if wrote => (reply, Rec { floor: 0, ..after }),
            _ if verb == Verb::None => unreachable!("no request"),
            _ => (reply, after),
        }
    }
}

//! Guards that are taken away: what the code is shown or asked, what it writes, or how a worker counts is changed.

use idem_core::store::OnCrash;

use super::network::{HELD, REJECTED, RELEASED, Verb};
use super::replies::{self, DOUBT, Reply, TAKEOVER};
use super::server::{Decision, NOBODY, Question};
use super::state::{FOREVER, Kind, OPEN, Rec};

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
    ResultOfOtherArguments,
    TakeoverUntold,
    OpenStaysOpen,
    LimitIgnored,
    ExhaustedWrites,
    ExhaustedHidesCrash,
    RefuseReruns,
    RecoverReruns,
    UncertainClaimed,
    UncertainRerun,
    UncertainForgetsToken,
    CrashedAskerRerun,
    DoubtUntold,
    UnmetTakeoverGranted,
    UncertainStuck,
    RenewAnybody,
    RenewByTokenAlone,
    RenewRevivesReleased,
    RenewRevivesUncertain,
    RenewOverUncertain,
    RenewOverLive,
    ReassertForgets,
    BehindByFenceAlone,
    BehindByAttemptAlone,
    CompleteAnybody,
    CompleteByTokenAlone,
    CompleteOverSettled,
    RestoreOverSettled,
    AlreadyNotRecognised,
    LateCompletionRefused,
    EndingLost,
    ReleaseAnybody,
    ReleaseByTokenAlone,
    ReleaseOverSettled,
    ReleaseDeletes,
    ReleaseForgetsTakeover,
    LateReleaseRefused,
    HeldIsReleased,
    UnaskedIsReleased,
    DeclaredIsRetracted,
    RejectedStaysBound,
    RejectedOpensInDoubt,
    ReleasedOpens,
    ShedsTakeover,
    ShedsHeld,
    SettleUncompared,
    SettleLive,
    SettleOverSettled,
    FreedForgetsToken,
    FreedForgetsTakeover,
    ForgetUncompared,
    ForgetLive,
    ForgetDeletes,
    FloorTooHigh,
    FloorTooLow,
    /// These are of the worker's count.
    LeaseFromRepeatedClaim,
    RenewalFromItsReply,
    BodyOnDeadLease,
    LateAnswerRenewed,
    ReassertThoughUnsure,
    RestoreThoughUnsure,
    RetractAfterBody,
    DoubtNotAsked,
    AskOutlasts,
}

use Mutation as M;

impl Mutation {
    /// The question that the code is asked in place of `question`, by who comes with `fingerprint`.
    pub(crate) fn show(self, question: &Question, fingerprint: u8) -> Question {
        let record = self.show_record(question, fingerprint).unwrap_or(question.record);
        let asked = Question { record, ..*question };
        match (self, question.verb) {
            (M::RefuseReruns, Verb::Claim) if question.policy == OnCrash::Refuse => {
                Question { policy: OnCrash::Rerun, ..asked }
            }
            (M::RecoverReruns, Verb::Claim) if question.policy == OnCrash::Recover => {
                Question { policy: OnCrash::Rerun, ..asked }
            }
            (M::UncertainClaimed, Verb::Claim) if question.record.kind == Kind::Uncertain => {
                Question { policy: OnCrash::Recover, ..asked }
            }
            (M::LimitIgnored, Verb::Claim) => Question { limit: 0, ..asked },
            (M::CompleteOverSettled, Verb::Complete) => Question { restore: true, ..asked },
            (M::HeldIsReleased, Verb::Release) if question.choice == HELD => Question { choice: RELEASED, ..asked },
            (M::RejectedStaysBound, Verb::Release) if question.choice == REJECTED => {
                Question { choice: RELEASED, ..asked }
            }
            (M::ReleasedOpens, Verb::Release) if question.choice == RELEASED => Question { choice: REJECTED, ..asked },
            (M::SettleUncompared, Verb::Settle) | (M::ForgetUncompared, Verb::Forget) => {
                Question { fence: question.record.fence, ..asked }
            }
            _ => asked,
        }
    }

    /// The record that the code is shown; `None` for the true one.
    fn show_record(self, question: &Question, fingerprint: u8) -> Option<Rec> {
        match question.verb {
            Verb::Claim => self.show_claim(question, fingerprint),
            Verb::Renew | Verb::Complete => self.show_holder(question),
            Verb::Release | Verb::Retract => self.show_leaver(question),
            Verb::Settle | Verb::Forget => self.show_person(question),
            Verb::None => None,
        }
    }

    fn show_claim(self, question: &Question, fingerprint: u8) -> Option<Rec> {
        let record = question.record;
        Some(match (self, record.kind) {
            (M::ResultOfOtherArguments, Kind::Completed | Kind::Failed) => Rec { fingerprint, ..record },
            (_, Kind::None | Kind::Completed | Kind::Failed) => return None,
            (M::ClaimSeesNothing, _) => Rec::NONE,
            (M::FingerprintUnchecked, _) => Rec { fingerprint, ..record },
            (M::LiveLeaseTakenOver, Kind::InFlight) if record.owner != question.from => Rec { left: 0, ..record },
            (M::OwnTokenNotRecognised, Kind::InFlight) | (M::StaleTokenGranted, Kind::Released) => {
                Rec { owner: NOBODY, ..record }
            }
            (M::CrashedAskerRerun, Kind::InFlight) if record.origin == DOUBT => Rec { origin: TAKEOVER, ..record },
            (M::UncertainRerun, Kind::Uncertain) => Rec { kind: Kind::InFlight, left: 0, origin: TAKEOVER, ..record },
            (M::UnmetTakeoverGranted, Kind::Released) if record.origin == TAKEOVER => {
                Rec { origin: TAKEOVER + 1, ..record }
            }
            (M::UncertainStuck, Kind::Uncertain) => Rec { kind: Kind::InFlight, left: FOREVER - 1, ..record },
            _ => return None,
        })
    }

    fn show_holder(self, question: &Question) -> Option<Rec> {
        let Question { record, verb, from, fence, attempt, restore, .. } = *question;
        let foreign = record.owner != from || record.fence != fence;
        Some(match (self, verb, record.kind) {
            (M::RenewAnybody, Verb::Renew, Kind::InFlight) | (M::CompleteAnybody, Verb::Complete, Kind::InFlight) => {
                Rec { owner: from, fence, ..record }
            }
            (M::RenewByTokenAlone, Verb::Renew, Kind::InFlight)
            | (M::CompleteByTokenAlone, Verb::Complete, Kind::InFlight) => Rec { fence, ..record },
            (M::RenewRevivesReleased, Verb::Renew, Kind::Released)
            | (M::RenewRevivesUncertain, Verb::Renew, Kind::Uncertain) => Rec { kind: Kind::InFlight, ..record },
            (M::RenewOverUncertain, Verb::Renew, Kind::Uncertain) if foreign => Rec { kind: Kind::Released, ..record },
            (M::RenewOverLive, Verb::Renew, Kind::InFlight) if foreign && restore => Rec { left: 0, ..record },
            (M::BehindByFenceAlone, _, Kind::InFlight | Kind::Released) if foreign && attempt > 0 => {
                Rec { attempt: attempt - 1, ..record }
            }
            (M::BehindByAttemptAlone, _, Kind::InFlight | Kind::Released) if foreign => {
                Rec { fence: fence - 1, ..record }
            }
            (M::CompleteOverSettled, Verb::Complete, Kind::Completed | Kind::Failed) => Rec::NONE,
            (M::RestoreOverSettled, _, Kind::Completed | Kind::Failed) if foreign && restore => {
                Rec { kind: Kind::Released, owner: NOBODY, ..record }
            }
            (M::LateCompletionRefused, Verb::Complete, Kind::Uncertain) => Rec { owner: NOBODY, ..record },
            _ => return None,
        })
    }

    fn show_leaver(self, question: &Question) -> Option<Rec> {
        let Question { record, verb, from, fence, .. } = *question;
        Some(match (self, record.kind) {
            (M::ReleaseAnybody, Kind::InFlight | Kind::Uncertain) => Rec { owner: from, fence, ..record },
            (M::ReleaseByTokenAlone, Kind::InFlight | Kind::Uncertain) => Rec { fence, ..record },
            (M::ReleaseOverSettled, Kind::Completed) => Rec { kind: Kind::InFlight, owner: from, fence, ..record },
            (M::LateReleaseRefused, Kind::Uncertain) => Rec { owner: NOBODY, ..record },
            (M::UnaskedIsReleased, _) if verb == Verb::Retract && record.origin == DOUBT => {
                Rec { origin: TAKEOVER, kind: Kind::InFlight, ..record }
            }
            (M::DeclaredIsRetracted, Kind::Uncertain) if verb == Verb::Retract => {
                Rec { kind: Kind::InFlight, ..record }
            }
            _ => return None,
        })
    }

    fn show_person(self, question: &Question) -> Option<Rec> {
        let record = question.record;
        let is_settle = question.verb == Verb::Settle;
        Some(match (self, record.kind) {
            (M::SettleLive, Kind::InFlight) if is_settle => Rec { left: 0, ..record },
            (M::ForgetLive, Kind::InFlight) if !is_settle => Rec { left: 0, ..record },
            (M::SettleOverSettled, kind) if is_settle && kind.is_settled() => Rec { kind: Kind::Uncertain, ..record },
            _ => return None,
        })
    }

    /// What becomes of a release that the code refuses.
    pub(crate) fn unrefused(self, question: &Question) -> Decision {
        (self == M::ShedsHeld && question.is_cramped).then_some((Reply::Uncertain, Rec::NONE))
    }

    /// What the world sees of the decision about `question`.
    pub(crate) fn tamper(self, question: &Question, reply: Reply, after: Rec) -> (Reply, Rec) {
        match reply {
            Reply::Acquired { .. } | Reply::Uncertain | Reply::Exhausted { .. } if question.verb == Verb::Claim => {
                self.tamper_claim(question, reply, after)
            }
            _ => self.tamper_rest(question, reply, after),
        }
    }

    fn tamper_claim(self, question: &Question, reply: Reply, after: Rec) -> (Reply, Rec) {
        let before = question.record;
        let wrote = after != before;
        match (self, reply) {
            (M::ProposedFenceOnly, Reply::Acquired { attempt, origin, .. }) if wrote => {
                let fence = question.fence;
                (Reply::Acquired { fence, attempt, origin }, Rec { fence, ..after })
            }
            (M::AttemptNotCarriedOn, Reply::Acquired { fence, origin, .. }) if wrote => {
                (Reply::Acquired { fence, attempt: 1, origin }, Rec { attempt: 1, ..after })
            }
            (M::TakeoverUntold, Reply::Acquired { fence, attempt, .. }) if before.kind == Kind::InFlight && wrote => {
                let origin = replies::RELEASED;
                (Reply::Acquired { fence, attempt, origin }, Rec { origin, ..after })
            }
            (M::DoubtUntold, Reply::Acquired { fence, attempt, origin: DOUBT }) => {
                let origin = TAKEOVER;
                (Reply::Acquired { fence, attempt, origin }, Rec { origin, ..after })
            }
            (M::OpenStaysOpen, Reply::Acquired { .. }) if before.fingerprint == OPEN => {
                (reply, Rec { fingerprint: OPEN, ..after })
            }
            (M::UncertainForgetsToken, Reply::Uncertain) if wrote => (reply, Rec { owner: NOBODY, ..after }),
            (M::ExhaustedWrites, Reply::Exhausted { .. }) => (reply, Rec { kind: Kind::Uncertain, ..after }),
            (M::ExhaustedHidesCrash, Reply::Exhausted { .. }) => (Reply::Exhausted { crashed: false }, after),
            (M::FloorTooHigh, Reply::Acquired { .. }) if wrote => (reply, Rec { floor: after.floor + A_TICK, ..after }),
            (M::FloorTooLow, Reply::Acquired { .. }) if wrote => (reply, Rec { floor: 0, ..after }),
            _ => (reply, after),
        }
    }

    fn tamper_rest(self, question: &Question, reply: Reply, after: Rec) -> (Reply, Rec) {
        let before = question.record;
        let by_person = matches!(question.verb, Verb::Settle | Verb::Forget);
        match (self, reply) {
            // The code extended the record that it was shown; the real one lives on.
            (M::RenewAnybody | M::RenewByTokenAlone, Reply::Renewed) => (reply, Rec { left: after.left, ..before }),
            (M::ReleaseAnybody | M::ReleaseByTokenAlone, Reply::Released | Reply::Uncertain) => {
                (reply, Rec { owner: before.owner, fence: before.fence, ..after })
            }
            (M::AlreadyNotRecognised, Reply::Already) => (Reply::Lost, after),
            (M::ReassertForgets, Reply::Reasserted) => (reply, Rec { origin: question.origin, ..after }),
            (M::EndingLost, Reply::Completed) => (reply, Rec { kind: Kind::Completed, ..after }),
            (M::FreedForgetsToken, Reply::Settled | Reply::Released) if by_person && after.kind == Kind::Released => {
                (reply, Rec { owner: NOBODY, ..after })
            }
            (M::FreedForgetsTakeover, Reply::Settled | Reply::Released) if by_person => {
                (reply, Rec { origin: replies::RELEASED, ..after })
            }
            (M::ForgetDeletes, Reply::Released) if by_person => (reply, Rec::NONE),
            (M::ReleaseDeletes, Reply::Released) if !by_person => (reply, Rec::NONE),
            (M::ReleaseForgetsTakeover, Reply::Released) if !by_person => {
                (reply, Rec { origin: replies::RELEASED, ..after })
            }
            (M::RejectedOpensInDoubt, Reply::Released) if question.choice == REJECTED => {
                (reply, Rec { fingerprint: OPEN, ..after })
            }
            (M::ShedsTakeover, Reply::Released) if question.is_cramped => (reply, Rec::NONE),
            _ => (reply, after),
        }
    }
}

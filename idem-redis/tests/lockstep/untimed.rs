//! Replies without the times in them: those go on between the look and the step.

use std::fmt::Debug;
use std::time::Duration;

use idem_core::store::{
    ClaimReply, CompleteReply, ForgetReply, InspectReply, ReleaseReply, RenewReply, SettleReply, Standing,
};

pub(crate) trait Untimed: Debug + PartialEq + Sized {
    /// The reply with no time left, and the times that it told.
    fn untimed(self) -> (Self, Vec<Duration>) {
        (self, Vec::new())
    }

    /// The reply as one word.
    fn word(&self) -> String {
        let text = format!("{self:?}");
        text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
    }
}

impl Untimed for ClaimReply {
    fn untimed(self) -> (Self, Vec<Duration>) {
        match self {
            Self::InFlight { left } => (Self::InFlight { left: Duration::ZERO }, vec![left]),
            other => (other, Vec::new()),
        }
    }
}

impl Untimed for InspectReply {
    fn untimed(self) -> (Self, Vec<Duration>) {
        let Self::Known(mut known) = self else { return (self, Vec::new()) };
        let mut times = Vec::new();
        times.extend(known.expires_in.as_mut().map(std::mem::take));
        if let Standing::InFlight { left } = &mut known.standing {
            times.push(std::mem::take(left));
        }
        (Self::Known(known), times)
    }

    fn word(&self) -> String {
        match self {
            Self::Known(known) => {
                let text = format!("{:?}", known.standing);
                text.split(' ').next().unwrap_or_default().to_owned()
            }
            other => format!("{other:?}").split('(').next().unwrap_or_default().to_owned(),
        }
    }
}

impl Untimed for RenewReply {}
impl Untimed for CompleteReply {}
impl Untimed for ReleaseReply {}
impl Untimed for SettleReply {}
impl Untimed for ForgetReply {}

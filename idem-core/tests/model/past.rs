//! What has happened in a world, as far as an invariant asks.

use std::hash::{Hash, Hasher};

use super::state::{Kind, Rec};

/// What has happened. Sets of workers are a bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Past {
    /// The greatest fence and attempt that were granted.
    pub(crate) fence: u8,
    pub(crate) attempt: u8,
    /// The greatest fence a body began under.
    pub(crate) began_under: u8,
    /// Who was granted a claim, and who last, counted from 1.
    pub(crate) granted: u8,
    pub(crate) last: u8,
    /// Whose claim the last record was that was let go, by its owner or a person, with nobody after it; from 1.
    pub(crate) let_go: u8,
    /// Whose completion is recorded, counted from 1.
    pub(crate) result: u8,
    /// Whose bodies began, and which of those attempts were then answered for: completed or released.
    pub(crate) began: u8,
    pub(crate) spoke: u8,
    /// Who was told by whom it asked that the effect is there.
    pub(crate) found: u8,
    /// Claims that nobody can know of any more: their record is lost, or was settled and is gone.
    pub(crate) gone: u8,
    /// Attempts that were declared uncertain, or claimed to be asked for: nothing may run until somebody decided.
    pub(crate) questioned: u8,
    /// Attempts of unknown outcome after which somebody decided to run all the same: by policy, after asking, or a person.
    pub(crate) decided: u8,
    /// What the replica knew of `granted` and `questioned` when it stopped following.
    pub(crate) known: u8,
    pub(crate) known_questioned: u8,
    /// How much people have done.
    pub(crate) settlements: u8,
    pub(crate) forgettings: u8,
    /// What the world has lost, a bit per [`Loss`].
    losses: u8,
}

/// Ways for a promise to end. Each is seen: counted by idem, or by whoever did it.
#[derive(Clone, Copy)]
pub(crate) enum Loss {
    /// The server lost the record, or went back in time. Counted where a claim is written again over it.
    Vanished = 1,
    /// The record's life was over.
    Expired = 2,
    /// A release deleted it, for want of memory.
    Shed = 4,
    /// A person deleted a result.
    Forgotten = 8,
    /// A person freed a live claim. The record stays.
    Forced = 16,
}

impl Past {
    pub(crate) const NOTHING: Self = Self {
        fence: 0,
        attempt: 0,
        began_under: 0,
        granted: 0,
        last: 0,
        let_go: 0,
        result: 0,
        began: 0,
        spoke: 0,
        found: 0,
        gone: 0,
        questioned: 0,
        decided: 0,
        known: 0,
        known_questioned: 0,
        settlements: 0,
        forgettings: 0,
        losses: 0,
    };

    pub(crate) fn note(&mut self, loss: Loss) {
        self.losses |= loss as u8;
    }

    pub(crate) fn has_seen(&self, loss: Loss) -> bool {
        self.losses & loss as u8 != 0
    }

    /// Whether every record is where it was put.
    pub(crate) fn lost_nothing(&self) -> bool {
        self.losses & !(Loss::Forced as u8) == 0
    }

    /// Whether no claim ends but by its lease and its owner, too.
    pub(crate) fn keeps_owners(&self) -> bool {
        self.losses == 0
    }

    /// Whether every fence there was is known to whoever hands out the next: not where a record is deleted before its life
    /// is over. Where one expires, messages from before it are lost too, and the clocks of the hosts do not differ by a
    /// whole retention.
    pub(crate) fn remembers_fences(&self) -> bool {
        self.losses & !(Loss::Expired as u8) == 0
    }

    /// The record is gone, and with it what was promised about it.
    pub(crate) fn lose(&mut self, loss: Loss) {
        self.note(loss);
        (self.result, self.let_go, self.questioned) = (0, 0, 0);
        // Not where its owner answered for the attempt as it went: what is open then stays so.
        self.gone |= if matches!(loss, Loss::Shed) { 0 } else { self.granted };
    }

    /// A replica takes over with `record`. What it did not know of is as good as vanished.
    pub(crate) fn fail_over(&mut self, record: Rec) {
        self.note(Loss::Vanished);
        self.result = if record.kind.is_settled() { record.owner + 1 } else { 0 };
        self.let_go = if record.kind == Kind::Released { record.owner + 1 } else { 0 };
        self.gone |= self.granted & !self.known;
        self.questioned &= self.known_questioned;
        (self.known, self.known_questioned) = (0, 0);
    }

    /// Attempts that may have had their effect and were never answered for.
    pub(crate) fn open(&self) -> u8 {
        self.began & !self.spoke & !self.gone
    }

    /// Those of them after which nobody has decided what to do.
    pub(crate) fn undecided(&self) -> u8 {
        self.open() & !self.decided
    }
}

// In three words: derived, hashing would be most of the work.
impl Hash for Past {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { fence, attempt, began_under, granted, last, let_go, result, began, .. } = *self;
        hasher.write_u64(u64::from_le_bytes([fence, attempt, began_under, granted, last, let_go, result, began]));
        let Self { spoke, found, gone, questioned, decided, known, known_questioned, losses, .. } = *self;
        hasher.write_u64(u64::from_le_bytes([
            spoke,
            found,
            gone,
            questioned,
            decided,
            known,
            known_questioned,
            losses,
        ]));
        hasher.write_u16(u16::from_le_bytes([self.settlements, self.forgettings]));
    }
}

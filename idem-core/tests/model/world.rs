//! What may happen in a world, and the worlds that are explored.

use idem_core::store::OnCrash::{self, Recover, Refuse, Rerun};

/// The record's life and the leases are counted in ticks of this many milliseconds.
pub(crate) const TICK: u64 = 100;

/// What may happen in a world.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is there or not, whatever the others are")]
pub(crate) struct World {
    pub(crate) workers: u8,
    /// The lease, in ticks.
    pub(crate) lease: u8,
    /// Life of every record but an uncertain one, in ticks.
    pub(crate) linger: u8,
    /// How often each worker sends its claim, under one token.
    pub(crate) claims: u8,
    /// How often each of the `renewers` (a bit each) renews.
    pub(crate) renews: u8,
    pub(crate) renewers: u8,
    /// How often each worker sends its completion.
    pub(crate) completions: u8,
    /// How many copies of a release reach the network.
    pub(crate) releases: u8,
    /// Whether workers end without a word. One that does nothing more is as good as one that crashed: this only shows the
    /// states in which nobody counts on it any more.
    pub(crate) crashes: bool,
    /// How a body may end other than with a value.
    pub(crate) fails: bool,
    pub(crate) holds: bool,
    pub(crate) rejects: bool,
    /// With an error that is final, and kept.
    pub(crate) concludes: bool,
    /// What each worker does about a crash that it meets, and after how many attempts it adds none (0: it always does).
    pub(crate) policies: [OnCrash; 3],
    pub(crate) limits: [u8; 3],
    /// How often a person settles, and how often one forgets, what was looked at before.
    pub(crate) settlements: u8,
    pub(crate) forgettings: u8,
    /// How many copies of a person's request reach the network.
    pub(crate) letters: u8,
    /// Whether a person frees a live claim too.
    pub(crate) forces: bool,
    /// Whether the record may be lost once.
    pub(crate) vanishes: bool,
    /// Whether a replica that stopped following may take over, once.
    pub(crate) fails_over: bool,
    /// Whether the server may have no memory for the record of a release.
    pub(crate) is_cramped: bool,
    /// Whether records expire; requests older than `linger - lease` are then lost.
    pub(crate) expires: bool,
    pub(crate) fingerprints: [u8; 3],
    /// By how much each worker's proposed fence lags behind.
    pub(crate) skew: [u8; 3],
    /// By how much the proposed fences of two claims differ, skew aside.
    pub(crate) pace: u8,
}

impl World {
    /// Two workers that send everything once.
    pub(crate) const LEAN: Self = Self {
        workers: 2,
        lease: 2,
        linger: 4,
        claims: 1,
        renews: 0,
        renewers: 0b111,
        completions: 1,
        releases: 1,
        crashes: true,
        fails: true,
        holds: false,
        rejects: false,
        concludes: false,
        policies: [Rerun; 3],
        limits: [0; 3],
        settlements: 0,
        forgettings: 0,
        letters: 1,
        forces: false,
        vanishes: false,
        fails_over: false,
        is_cramped: false,
        expires: false,
        fingerprints: [0; 3],
        skew: [0; 3],
        pace: 1,
    };

    /// The lease in milliseconds: the server grants two more, which makes whole ticks.
    pub(crate) fn lease_millis(&self) -> u64 {
        u64::from(self.lease) * TICK - 2
    }

    /// Whether it makes no difference which of two workers comes first.
    pub(crate) fn are_alike(&self, one: u8, other: u8) -> bool {
        let of = |worker: u8| {
            let at = usize::from(worker);
            (self.fingerprints[at], self.skew[at], self.limits[at], self.policies[at], self.renewers >> worker & 1)
        };
        of(one) == of(other)
    }

    pub(crate) fn policy(&self, worker: u8) -> OnCrash {
        self.policies[usize::from(worker)]
    }

    pub(crate) fn limit(&self, worker: u8) -> u8 {
        self.limits[usize::from(worker)]
    }

    pub(crate) fn fingerprint(&self, worker: u8) -> u8 {
        self.fingerprints[usize::from(worker)]
    }
}

pub(crate) const REPEATING: World = World { claims: 2, renews: 1, completions: 2, releases: 2, ..World::LEAN };
pub(crate) const RENEWING: World = World { renews: 2, ..World::LEAN };
pub(crate) const LONG: World = World { lease: 3, linger: 6, renews: 1, completions: 2, ..World::LEAN };
pub(crate) const THREE: World = World { workers: 3, lease: 1, linger: 2, ..World::LEAN };
pub(crate) const THREE_REPEATING: World = World { claims: 2, ..THREE };
pub(crate) const THREE_RENEWING: World = World { renews: 1, ..THREE };
pub(crate) const MISMATCHING: World = World { fingerprints: [0, 0, 1], ..THREE };
pub(crate) const SKEWED: World = World { skew: [3, 3, 0], ..THREE };
pub(crate) const CONCLUDING: World = World { concludes: true, completions: 2, ..World::LEAN };
pub(crate) const REJECTING: World = World { rejects: true, ..MISMATCHING };
pub(crate) const LIMITED: World = World { limits: [2, 1, 2], policies: [Rerun, Rerun, Refuse], ..THREE };

// What is known to be unknown.
pub(crate) const HOLDING: World = World { holds: true, renews: 1, releases: 2, completions: 2, ..World::LEAN };
pub(crate) const REFUSING: World = World { policies: [Refuse; 3], settlements: 1, claims: 2, releases: 1, ..HOLDING };
pub(crate) const THREE_REFUSING: World = World { policies: [Refuse; 3], holds: true, settlements: 1, ..THREE };
pub(crate) const RECOVERING: World = World { policies: [Recover; 3], claims: 2, ..HOLDING };
pub(crate) const THREE_RECOVERING: World = World { policies: [Recover; 3], holds: true, ..THREE };
pub(crate) const MIXED: World = World { policies: [Rerun, Refuse, Recover], holds: true, ..THREE };
pub(crate) const MIXED_RERUNNING: World = World { policies: [Rerun, Rerun, Recover], ..MIXED };
pub(crate) const MIXED_RENEWING: World = World { renews: 1, renewers: 0b1, fails: false, crashes: false, ..MIXED };
pub(crate) const MIXED_LIMITED: World = World { limits: [2, 2, 3], ..MIXED };
pub(crate) const MIXED_REJECTING: World = World { rejects: true, fingerprints: [0, 1, 0], ..MIXED };

// People.
pub(crate) const SETTLING: World = World { settlements: 1, letters: 2, claims: 2, ..World::LEAN };
pub(crate) const THREE_SETTLING: World = World { settlements: 1, holds: true, ..THREE };
pub(crate) const FORGETTING: World = World { forgettings: 1, letters: 2, completions: 2, renews: 1, ..World::LEAN };
pub(crate) const THREE_FORGETTING: World =
    World { forgettings: 1, holds: true, crashes: false, policies: [Rerun, Rerun, Refuse], ..THREE };
pub(crate) const FORCING: World = World { forces: true, ..FORGETTING };

// Servers that lose something. Fences are microseconds: where the record goes, and its fence with it, claims are more
// than one apart.
pub(crate) const VANISHING: World = World { vanishes: true, renews: 1, completions: 2, pace: 4, ..World::LEAN };
pub(crate) const THREE_VANISHING: World = World { vanishes: true, pace: 4, ..MISMATCHING };
/// The last one's clock is far behind: after a loss it claims under a lower fence.
pub(crate) const VANISHING_SKEWED: World = World {
    vanishes: true,
    holds: true,
    renews: 1,
    renewers: 0b10,
    fails: false,
    crashes: false,
    skew: [0, 0, 6],
    pace: 2,
    ..THREE
};
pub(crate) const EXPIRING: World =
    World { expires: true, claims: 2, renews: 1, lease: 1, linger: 3, pace: 4, ..World::LEAN };
pub(crate) const THREE_EXPIRING: World = World { workers: 3, claims: 1, renews: 0, ..EXPIRING };
pub(crate) const EXPIRING_MIXED: World =
    World { policies: [Refuse, Recover, Rerun], holds: true, claims: 1, ..EXPIRING };
pub(crate) const FAILING_OVER: World = World { fails_over: true, renews: 1, completions: 2, pace: 4, ..World::LEAN };
pub(crate) const THREE_FAILING_OVER: World = World { fails_over: true, pace: 4, crashes: false, ..THREE };
pub(crate) const MIXED_FAILING_OVER: World =
    World { fails_over: true, pace: 4, holds: false, fails: false, crashes: false, ..MIXED };
/// The last one's clock is far behind: after the failover it follows under a lower fence than was handed out before.
pub(crate) const FAILING_OVER_SKEWED: World = World { skew: [0, 0, 6], fails: false, pace: 2, ..THREE_FAILING_OVER };
pub(crate) const CRAMPED: World = World { is_cramped: true, claims: 2, renews: 1, pace: 4, ..World::LEAN };
pub(crate) const MIXED_CRAMPED: World = World { is_cramped: true, pace: 4, ..MIXED };

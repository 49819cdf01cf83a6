//! The steps of a sequence.

use idem_core::record::Ending;
use idem_core::store::{GivenUp, OnCrash};
use proptest::prelude::*;

/// One step. Claims are numbered as they are made, the latest first; a later step names one of those.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Claim(Claiming),
    Repeat {
        of: usize,
    },
    Renew {
        of: usize,
        restore: bool,
    },
    Complete {
        of: usize,
        restore: bool,
        result: Result,
    },
    Release {
        of: usize,
        answered: bool,
        given_up: GivenUp,
    },
    Settle {
        seen: Seen,
        result: Option<Result>,
    },
    Forget {
        seen: Seen,
        force: bool,
    },
    Inspect,
    /// The latest request of an owner or a person, once more.
    Again,
    Disturb(Disturbance),
}

/// What tells one claim from another.
#[derive(Debug, Clone)]
pub(crate) struct Claiming {
    pub(crate) other_arguments: bool,
    pub(crate) proposed: u64,
    pub(crate) on_crash: OnCrash,
    pub(crate) max_attempts: Option<u32>,
    pub(crate) lease: u64,
    pub(crate) linger: u64,
}

/// How an attempt ended.
#[derive(Debug, Clone)]
pub(crate) struct Result {
    pub(crate) ending: Ending,
    pub(crate) payload: &'static str,
}

/// Which fence a person has seen.
#[derive(Debug, Clone)]
pub(crate) enum Seen {
    Now,
    Earlier { of: usize },
}

/// What happens to a server, or is done to it by somebody else.
#[derive(Debug, Clone)]
pub(crate) enum Disturbance {
    LeaseEnds,
    Vanishes,
    GoesBack {
        by: usize,
    },
    LosesItsExpiry,
    CountsToTheEnd,
    IsAround {
        of: usize,
        fence: i8,
        attempt: i8,
    },
    IsWonAs {
        origin: u8,
    },
    IsCut {
        to: usize,
    },
    IsDamaged {
        at: usize,
        byte: u8,
    },
    /// In another state, and perhaps bound to no arguments: so many digits of its fingerprint are blank.
    IsRelabelled {
        state: u8,
        blank: Option<usize>,
    },
    IsOverwritten {
        value: Vec<u8>,
    },
}

pub(crate) fn sequence() -> impl Strategy<Value = Vec<Action>> {
    let disturbance = || disturbance().prop_map(Action::Disturb);
    let steps = prop_oneof![
        10 => verb().prop_map(|verb| vec![verb]),
        6 => disturbance().prop_map(|disturbance| vec![disturbance]),
        // Each verb is to meet each damage, and not only the first one after it; and the sequence goes on.
        3 => (damage(), verb(), prop::bool::weighted(0.8)).prop_map(|(damage, verb, is_undone)| {
            let mut steps = vec![Action::Disturb(damage), verb];
            steps.extend(is_undone.then_some(Action::Disturb(Disturbance::GoesBack { by: 2 })));
            steps
        }),
    ];
    prop::collection::vec(steps, 1..50).prop_map(|steps| steps.concat())
}

fn verb() -> impl Strategy<Value = Action> {
    let of = || prop_oneof![Just(0_usize), 0_usize..4];
    let given_up = prop_oneof![Just(GivenUp::Released), Just(GivenUp::Held), Just(GivenUp::Rejected)];
    prop_oneof![
        6 => claiming().prop_map(Action::Claim),
        3 => of().prop_map(|of| Action::Repeat { of }),
        4 => (of(), any::<bool>()).prop_map(|(of, restore)| Action::Renew { of, restore }),
        3 => (of(), any::<bool>(), result()).prop_map(|(of, restore, result)| Action::Complete { of, restore, result }),
        4 => (of(), any::<bool>(), given_up)
            .prop_map(|(of, answered, given_up)| Action::Release { of, answered, given_up }),
        2 => (seen(), prop::option::of(result())).prop_map(|(seen, result)| Action::Settle { seen, result }),
        2 => (seen(), any::<bool>()).prop_map(|(seen, force)| Action::Forget { seen, force }),
        2 => Just(Action::Inspect),
        3 => Just(Action::Again),
    ]
}

fn claiming() -> impl Strategy<Value = Claiming> {
    let proposed =
        prop_oneof![any::<u64>(), Just(0), Just(u64::MAX), 9_007_199_254_740_990..9_007_199_254_740_999_u64,];
    let on_crash = prop_oneof![Just(OnCrash::Rerun), Just(OnCrash::Refuse), Just(OnCrash::Recover)];
    let max_attempts = prop_oneof![3 => Just(None), 1 => (0_u32..5).prop_map(Some), 1 => Just(Some(u32::MAX))];
    // On both sides of the least time that an unknown outcome is remembered.
    let linger = prop_oneof![Just(60_000_u64), Just(8 * 86_400_000)];
    let lease = prop_oneof![Just(10_000_u64), Just(20_000)];
    (prop::bool::weighted(0.1), proposed, on_crash, max_attempts, lease, linger).prop_map(
        |(other_arguments, proposed, on_crash, max_attempts, lease, linger)| Claiming {
            other_arguments,
            proposed,
            on_crash,
            max_attempts,
            lease,
            linger,
        },
    )
}

fn result() -> impl Strategy<Value = Result> {
    let ending = prop_oneof![Just(Ending::Completed), Just(Ending::Failed)];
    let payload = prop_oneof![Just("1"), Just("\"a result that is longer than the rest of an unfinished header\"")];
    (ending, payload).prop_map(|(ending, payload)| Result { ending, payload })
}

fn seen() -> impl Strategy<Value = Seen> {
    prop_oneof![4 => Just(Seen::Now), 1 => (0_usize..4).prop_map(|of| Seen::Earlier { of })]
}

fn disturbance() -> impl Strategy<Value = Disturbance> {
    prop_oneof![
        10 => Just(Disturbance::LeaseEnds),
        2 => Just(Disturbance::Vanishes),
        6 => (1_usize..8).prop_map(|by| Disturbance::GoesBack { by }),
        2 => Just(Disturbance::LosesItsExpiry),
        3 => Just(Disturbance::IsRelabelled { state: b'U', blank: None }),
        5 => prop::sample::select(b"frstd".to_vec()).prop_map(|origin| Disturbance::IsWonAs { origin }),
        1 => Just(Disturbance::CountsToTheEnd),
        4 => (0_usize..3, -1_i8..=1, -1_i8..=1)
            .prop_map(|(of, fence, attempt)| Disturbance::IsAround { of, fence, attempt }),
    ]
}

fn damage() -> impl Strategy<Value = Disturbance> {
    let at = prop_oneof![0_usize..80, 0_usize..6, Just(2), 62_usize..76, Just(99)];
    let byte = prop_oneof![any::<u8>(), prop::sample::select(b"z-2IRUCFfrstdx!".to_vec())];
    let value = prop_oneof![
        Just(vec![]),
        Just(b"2C".to_vec()),
        Just(b"2Cj1".to_vec()),
        prop::collection::vec(any::<u8>(), 0..90),
    ];
    prop_oneof![
        4 => (at, byte).prop_map(|(at, byte)| Disturbance::IsDamaged { at, byte }),
        4 => (prop::sample::select(b"IRRUCF".to_vec()), prop_oneof![Just(None), (20_usize..=22).prop_map(Some)])
            .prop_map(|(state, blank)| Disturbance::IsRelabelled { state, blank }),
        1 => (0_usize..80).prop_map(|to| Disturbance::IsCut { to }),
        1 => value.prop_map(|value| Disturbance::IsOverwritten { value }),
    ]
}

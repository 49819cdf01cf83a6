//! Derived keys.

use ::idem::IdempotencyKey;
use ::serde::Serialize;

/// A newtype.
#[derive(Debug, Clone, Copy, IdempotencyKey)]
pub struct OrderId(u64);

impl OrderId {
    /// The order of this number.
    #[must_use]
    pub const fn new(id: u64) -> Self {
        Self(id)
    }

    /// The number of this order.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// A message with everything.
#[derive(Debug, IdempotencyKey)]
pub struct Message<'a, T, const N: usize>
where
    T: Copy,
{
    /// The key.
    #[idem(key)]
    pub order: OrderId,
    /// Borrowed.
    #[idem(key)]
    pub tenant: &'a str,
    /// Generic.
    pub lines: [T; N],
    /// A keyword.
    pub r#type: u8,
    /// Still there.
    #[deprecated = "use `lines`"]
    pub line: T,
    /// Of no interest.
    #[idem(skip)]
    pub trace: ::std::time::Instant,
}

/// An enum of everything.
#[derive(Debug, IdempotencyKey)]
pub enum Event<T> {
    /// A unit.
    Opened,
    /// A newtype.
    #[idem(rename = "closed")]
    Closed(OrderId),
    /// A tuple.
    Paid(#[idem(key)] OrderId, u64, #[idem(skip)] T),
    /// A struct.
    Refunded {
        /// The key.
        #[idem(key)]
        order: OrderId,
        /// What it costs.
        cents: u64,
    },
    /// Still there.
    #[deprecated = "use `Opened`"]
    Reopened,
}

/// A key as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, IdempotencyKey)]
pub enum Target {
    /// One.
    User(u64),
    /// Some.
    Group {
        /// Of whom.
        org: u64,
        /// Which.
        id: u64,
    },
    /// All.
    All,
}

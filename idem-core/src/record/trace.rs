//! The trace context that may stand before a kept payload.

use crate::digits;

/// Where a result came about, in the terms of OpenTelemetry, so that its repeats can point there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    /// The trace.
    pub trace_id: u128,
    /// The span in it.
    pub span_id: u64,
    /// The flags: whether it is sampled.
    pub flags: u8,
}

const TRACE_ID: usize = 22;
const SPAN_ID: usize = 11;
const FLAGS: usize = 2;

impl TraceContext {
    /// How many bytes of text it takes.
    pub(super) const WIDTH: usize = TRACE_ID + SPAN_ID + FLAGS;

    pub(super) fn to_text(self) -> [u8; Self::WIDTH] {
        let mut text = [0; Self::WIDTH];
        text[..TRACE_ID].copy_from_slice(&digits::write::<TRACE_ID>(self.trace_id));
        text[TRACE_ID..][..SPAN_ID].copy_from_slice(&digits::write::<SPAN_ID>(self.span_id.into()));
        text[TRACE_ID + SPAN_ID..].copy_from_slice(&digits::write::<FLAGS>(self.flags.into()));
        text
    }

    /// `None` of what is none.
    pub(super) fn from_text(text: &[u8]) -> Option<Self> {
        let (trace_id, rest) = text.split_at_checked(TRACE_ID)?;
        let (span_id, flags) = rest.split_at_checked(SPAN_ID)?;
        Some(Self {
            trace_id: digits::read(trace_id)?,
            span_id: digits::read(span_id)?.try_into().ok()?,
            flags: digits::read(flags)?.try_into().ok()?,
        })
    }
}

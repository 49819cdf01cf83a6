//! OpenTelemetry: what a result was made in is kept with it, and its repeats link there. Without the feature, neither.

use tracing::Span;

use crate::record::TraceContext;

#[cfg(feature = "opentelemetry")]
use {
    opentelemetry::trace::{SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState},
    tracing_opentelemetry::OpenTelemetrySpanExt as _,
};

/// Where `span` stands, if it is traced.
#[cfg(feature = "opentelemetry")]
pub(crate) fn context_of(span: &Span) -> Option<TraceContext> {
    let context = span.context();
    let traced = context.span();
    let at = traced.span_context();
    at.is_valid().then(|| TraceContext {
        trace_id: u128::from_be_bytes(at.trace_id().to_bytes()),
        span_id: u64::from_be_bytes(at.span_id().to_bytes()),
        flags: at.trace_flags().to_u8(),
    })
}

/// Makes `span` point to where its answer came from.
#[cfg(feature = "opentelemetry")]
pub(crate) fn link(span: &Span, to: TraceContext) {
    let TraceContext { trace_id, span_id, flags } = to;
    span.add_link(SpanContext::new(
        TraceId::from_bytes(trace_id.to_be_bytes()),
        SpanId::from_bytes(span_id.to_be_bytes()),
        TraceFlags::new(flags),
        true,
        TraceState::NONE,
    ));
}

#[cfg(not(feature = "opentelemetry"))]
pub(crate) fn context_of(_: &Span) -> Option<TraceContext> {
    None
}

#[cfg(not(feature = "opentelemetry"))]
pub(crate) fn link(_: &Span, _: TraceContext) {}

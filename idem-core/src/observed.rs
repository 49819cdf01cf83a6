//! One call, as metrics, traces and logs see it.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tracing::field::Empty;
use tracing::{Span, record_all};

use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Failure};
use crate::instruments::{self, Instruments};
use crate::metrics;
use crate::operation::Operation;
use crate::outcome::{self, Seen};
use crate::record::TraceContext;
use crate::store::Grant;
use crate::telemetry;

/// One call, as metrics, traces and logs see it. It gets exactly one outcome; dropped without one, it gets that.
pub(crate) struct Observed {
    instruments: Arc<Instruments>,
    span: Span,
    has_ended: AtomicBool,
}

/// The span of a call.
const SPAN: &str = "idem.call";

impl Observed {
    /// A call of the operation `name` that begins, with its identity if it has one.
    pub(crate) fn begin(engine: &Engine, name: Cow<'static, str>, identity: Option<&Operation>) -> Self {
        let span = tracing::info_span!(
            SPAN,
            operation = &*name,
            // Written only where a subscriber takes it.
            key = identity.map(|identity| tracing::field::display(engine.shown_key(identity))),
            attempt = Empty,
            fence = Empty,
            outcome = Empty,
            age = Empty,
        );
        Self { instruments: engine.instruments(name), span, has_ended: AtomicBool::new(false) }
    }

    pub(crate) fn instruments(&self) -> &Arc<Instruments> {
        &self.instruments
    }

    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// Where it is traced, to be kept with its result.
    pub(crate) fn trace(&self) -> Option<TraceContext> {
        telemetry::context_of(&self.span)
    }

    /// Points to the call that made its result.
    pub(crate) fn link(&self, made_in: TraceContext) {
        telemetry::link(&self.span, made_in);
    }

    /// Polls `future` inside the call's span.
    pub(crate) async fn inside<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| self.span.in_scope(|| future.as_mut().poll(cx))).await
    }

    /// Notes the claim that it won.
    pub(crate) fn claimed(&self, grant: &Grant) {
        record_all!(self.span, attempt = grant.attempt, fence = grant.fence.get());
    }

    /// The end of a call that has a result of its own.
    pub(crate) fn end(&self, outcome: &'static str) {
        if self.count_end(outcome) {
            self.span.record("outcome", outcome);
        }
    }

    /// Counts the end, unless it was counted before.
    fn count_end(&self, outcome: &'static str) -> bool {
        let is_first = !self.has_ended.swap(true, Ordering::Relaxed);
        if is_first {
            self.instruments.call(outcome);
        }
        is_first
    }

    /// The end of a call that is answered from a kept result.
    pub(crate) fn replayed(&self, seen: &Seen) {
        outcome::note(Some(*seen));
        let age = seen.age.as_secs_f64();
        self.instruments.add_one(metrics::DUPLICATES_SUPPRESSED);
        self.instruments.record(metrics::DUPLICATE_AGE_SECONDS, age);
        let outcome = "replayed";
        self.count_end(outcome);
        record_all!(self.span, attempt = seen.attempt, fence = seen.fence.get(), outcome, age);
        tracing::debug!(parent: &self.span, operation = self.operation(), age, "answered from the kept result");
    }

    /// The end of a call that has no result.
    pub(crate) fn refuse(&self, failure: Failure) -> Error {
        outcome::note(None);
        let error = Error::new(Some(self.instruments.operation().clone()), failure);
        let outcome = error.kind().as_str();
        self.end(outcome);
        let operation = self.operation();
        let cause = error.source();
        match error.kind() {
            ErrorKind::Uncertain | ErrorKind::Undecodable | ErrorKind::Corrupt => {
                tracing::error!(parent: &self.span, operation, outcome, cause, "{}", error.failure());
            }
            _ => tracing::debug!(parent: &self.span, operation, outcome, cause, "{}", error.failure()),
        }
        error
    }

    fn operation(&self) -> &str {
        self.instruments.operation()
    }
}

/// The end of a call that found no engine.
pub(crate) fn no_engine(operation: Cow<'static, str>) -> Error {
    let error = Error::new(Some(operation.clone()), Failure::NoEngine);
    instruments::call_without_engine(operation, error.kind().as_str());
    error
}

impl Drop for Observed {
    fn drop(&mut self) {
        self.end(if std::thread::panicking() { "panicked" } else { "dropped" });
    }
}

//! A subscriber that keeps the spans of calls, and all events.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

pub type Fields = BTreeMap<&'static str, String>;

/// What was traced. A cheap clone.
#[derive(Debug, Clone, Default)]
pub struct Traced(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
pub struct Seen {
    pub spans: Vec<Fields>,
    pub events: Vec<(Level, Fields)>,
}

/// Where a span's fields are kept.
struct At(usize);

impl Traced {
    /// Traces everything from now on, on this thread, until the guard is dropped.
    pub fn begin() -> (Self, DefaultGuard) {
        let traced = Self::default();
        let guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(traced.clone()));
        (traced, guard)
    }

    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().expect("no panic under it")
    }
}

impl Seen {
    /// The most severe event, if there was any.
    pub fn severest(&self) -> Option<Level> {
        self.events.iter().map(|(level, _)| *level).min()
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Traced {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Written(BTreeMap::from([("name", attributes.metadata().name().to_owned())]));
        attributes.record(&mut fields);
        let mut seen = self.seen();
        seen.spans.push(fields.0);
        context.span(id).expect("a new span").extensions_mut().insert(At(seen.spans.len() - 1));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let mut fields = Written::default();
        values.record(&mut fields);
        let span = context.span(id).expect("a live span");
        let At(at) = *span.extensions().get::<At>().expect("a seen span");
        self.seen().spans[at].extend(fields.0);
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Written::default();
        event.record(&mut fields);
        self.seen().events.push((*event.metadata().level(), fields.0));
    }
}

#[derive(Default)]
struct Written(Fields);

impl Visit for Written {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_error(&mut self, field: &Field, error: &(dyn std::error::Error + 'static)) {
        let chain = std::iter::successors(Some(error), |&error| error.source());
        self.0.insert(field.name(), chain.map(|error| format!("{error} {error:?}")).collect::<Vec<_>>().join(": "));
    }
}

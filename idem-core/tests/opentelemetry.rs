//! Repeats point to the call that made their result.

use idem_core::{Engine, Error, MemoryStore};
use opentelemetry::trace::{SpanContext, TracerProvider as _};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tracing_subscriber::layer::SubscriberExt as _;

async fn call(engine: &Engine) -> u32 {
    let call = engine.operation("job").key("k").fingerprint(&());
    call.run(async |attempt| Ok::<_, Error>(attempt.number())).await.expect("an answer")
}

fn attribute(span: &SpanData, name: &str) -> Option<String> {
    span.attributes.iter().find(|attribute| attribute.key.as_str() == name).map(|attribute| attribute.value.to_string())
}

fn ids(span: &SpanContext) -> (String, String) {
    (span.trace_id().to_string(), span.span_id().to_string())
}

#[tokio::test]
async fn all_repeats_of_a_call_link_to_the_span_that_made_their_result() {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    let engine = Engine::builder(MemoryStore::new()).build().expect("valid");
    {
        let _tracing = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
        for _ in 0..3 {
            assert_eq!(call(&engine).await, 1);
        }
    }
    // What was kept reads as ever where nobody traces.
    assert_eq!(call(&engine).await, 1);

    let spans = exporter.get_finished_spans().expect("spans");
    let [made, repeats @ ..] = &spans[..] else { panic!("no spans") };
    assert_eq!((repeats.len(), made.links.len()), (2, 0));
    assert_eq!(attribute(made, "outcome").as_deref(), Some("executed"));
    for repeat in repeats {
        assert_eq!(attribute(repeat, "outcome").as_deref(), Some("replayed"));
        assert_eq!(
            repeat.links.iter().map(|link| ids(&link.span_context)).collect::<Vec<_>>(),
            [ids(&made.span_context)]
        );
    }
}

#[tokio::test]
async fn a_result_that_was_made_untraced_is_replayed_without_a_link() {
    let engine = Engine::builder(MemoryStore::new()).build().expect("valid");
    assert_eq!(call(&engine).await, 1);
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    let _tracing = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
    assert_eq!(call(&engine).await, 1);
    let spans = exporter.get_finished_spans().expect("spans");
    assert!(spans.len() == 1 && spans[0].links.is_empty());
}

//! What spans and events tell of calls, and what nothing tells.

#[macro_use]
#[path = "support/watched.rs"]
mod watched;
#[path = "support/outcomes.rs"]
mod outcomes;
#[path = "support/traced.rs"]
mod traced;

use std::error::Error as StdError;

use idem_core::{Engine, Error, MemoryStore};
use metrics_util::debugging::DebuggingRecorder;
use outcomes::{ARGUMENT, FAILURE, KEY, OPERATION, POLICY, RESULT, TENANT, call, play};
use traced::Traced;
use tracing::{Level, Span};
use watched::Watched;

#[tokio::test(start_paused = true)]
async fn each_call_has_one_span_that_tells_its_outcome() {
    // Without an engine there is none to ask how keys may be shown.
    for (scenario, outcomes, _) in outcomes::ALL.iter().filter(|(scenario, ..)| *scenario != "no_engine") {
        let (traced, _tracing) = Traced::begin();
        play(scenario).await;
        let seen = traced.seen();
        let mut told: Vec<_> = seen.spans.iter().map(|span| span["outcome"].as_str()).collect();
        let mut expected = outcomes.to_vec();
        told.sort_unstable();
        expected.sort_unstable();
        assert_eq!(told, expected, "{scenario}");
        assert!(seen.spans.iter().all(|span| span["name"] == "idem.call" && span["operation"] == OPERATION));
    }
}

#[tokio::test(start_paused = true)]
async fn a_span_tells_attempt_fence_and_age() {
    let (traced, _tracing) = Traced::begin();
    play("replayed").await;
    let seen = traced.seen();
    let [first, repeat] = &seen.spans[..] else { panic!("{seen:?}") };
    assert_eq!((first["attempt"].as_str(), repeat["attempt"].as_str()), ("1", "1"));
    assert_eq!(first["fence"], repeat["fence"]);
    assert!(!first.contains_key("age") && repeat["age"].parse::<f64>().is_ok());
    assert_eq!(first["key"], repeat["key"]);
    assert_eq!(first["key"].len(), 16);
}

#[tokio::test(start_paused = true)]
async fn a_body_runs_inside_its_calls_span() {
    let (_traced, _tracing) = Traced::begin();
    let engine = Watched::new().engine(POLICY);
    let name = || Span::current().metadata().map(tracing::Metadata::name);
    let run = call(&engine).run(async |_| {
        let before = name();
        tokio::task::yield_now().await;
        Ok::<_, Error>(before == name() && before == Some("idem.call"))
    });
    assert!(run.await.expect("it runs"));
    assert_eq!(name(), None);
}

#[tokio::test(start_paused = true)]
async fn keys_are_readable_only_where_the_application_says_so() {
    let (traced, _tracing) = Traced::begin();
    let builder = || Engine::builder(MemoryStore::new());
    let secret = || builder().log_digest_secret("secret").build().expect("valid");
    for engine in [secret(), secret(), builder().log_keys(true).build().expect("valid")] {
        call(&engine).run(async |_| Ok::<_, Error>(())).await.expect("it runs");
    }
    let seen = traced.seen();
    let [first, second, readable] = [0, 1, 2].map(|at| seen.spans[at]["key"].as_str());
    assert_eq!(first, second);
    assert_eq!(readable, format!("{OPERATION}:{TENANT}:{KEY}"));
    assert!(seen.events.iter().all(|(_, fields)| !format!("{fields:?}").contains(KEY)));
}

#[tokio::test(start_paused = true)]
async fn only_what_somebody_has_to_look_at_is_loud() {
    let severest = async |scenario: &str| {
        let (traced, _tracing) = Traced::begin();
        play(scenario).await;
        let seen = traced.seen();
        seen.severest()
    };
    for quiet in ["executed", "failed", "retry"] {
        assert_eq!(severest(quiet).await, None, "{quiet}");
    }
    for quiet in ["replayed", "conflict", "mismatch", "invalid_key", "exhausted", "shut_down", "config"] {
        assert_eq!(severest(quiet).await, Some(Level::DEBUG), "{quiet}");
    }
    for warned_of in ["takeover", "vanished", "lease_lost", "unprotected"] {
        assert_eq!(severest(warned_of).await, Some(Level::WARN), "{warned_of}");
    }
    for wrong in ["uncertain", "held", "unrecorded", "returned unrecorded", "undecodable", "corrupt"] {
        assert_eq!(severest(wrong).await, Some(Level::ERROR), "{wrong}");
    }
}

/// All that an error says, to whoever asks in whichever way.
fn said(error: &Error) -> String {
    let chain = std::iter::successors(Some(error as &dyn StdError), |&error| error.source());
    chain.map(|error| format!("{error} {error:#} {error:?} {error:#?}")).collect::<Vec<_>>().join(": ")
}

#[tokio::test(start_paused = true)]
async fn nothing_that_was_handed_to_a_call_shows_in_errors_logs_or_metrics() {
    for (scenario, ..) in outcomes::ALL {
        let (traced, _tracing) = Traced::begin();
        let recorder = DebuggingRecorder::new();
        let _recording = metrics::set_default_local_recorder(&recorder);
        let played = play(scenario).await;
        let errors: String = played.errors.iter().map(said).collect();
        let series: Vec<_> = recorder.snapshotter().snapshot().into_vec().into_iter().map(|(key, ..)| key).collect();
        let told = format!("{errors} {series:?} {:?}", traced.seen());
        let tokens = played.tokens.iter().map(String::as_str);
        for hidden in [KEY, TENANT, ARGUMENT, RESULT, FAILURE].into_iter().chain(tokens) {
            assert!(!told.contains(hidden), "{scenario}: {hidden} in {told}");
        }
    }
}

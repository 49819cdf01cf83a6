//! [`Store::inspect`] and [`Store::survey`]: what is there is told, and nothing changes by it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use crate::key::Key;
use crate::operation::Operation;
use crate::record::Ending;
use crate::store::{Complete, InspectReply, Inspection, RenewReply, Standing, Store, Survey};

use super::intent::{Intent, answered};

/// Every scenario of the two verbs.
///
/// # Panics
///
/// If the store breaks a promise.
pub async fn all(store: &impl Store) {
    every_standing_is_told(store).await;
    an_unknown_outcome_is_told_whether_anyone_met_it_or_not(store).await;
    a_look_changes_nothing(store).await;
    a_survey_meets_every_record_of_an_operation_and_no_other(store).await;
    a_survey_of_all_meets_each_operation(store).await;
}

async fn known(store: &impl Store, intent: &Intent) -> Inspection {
    match answered(store.inspect(&intent.operation).await) {
        InspectReply::Known(known) => known,
        other => panic!("the identity is known, not {other:?}"),
    }
}

async fn every_standing_is_told(store: &impl Store) {
    let intent = Intent::new();
    assert_eq!(answered(store.inspect(&intent.operation).await), InspectReply::Absent);

    let (claim, grant) = intent.won(store).await;
    let seen = known(store, &intent).await;
    assert_eq!((seen.fence, seen.attempt), (grant.fence, 1));
    assert!(matches!(seen.standing, Standing::InFlight { left } if !left.is_zero() && left <= Intent::LEASE + MS * 2));
    assert!(seen.expires_in.is_some_and(|life| life > Intent::LEASE && life <= MS * 60_000), "{seen:?}");
    assert!(seen.age() < MS * 60_000);

    answered(store.release(&intent.release(&claim, Some(grant))).await);
    assert_eq!(known(store, &intent).await.standing, Standing::Released);

    for (ending, standing) in [(Ending::Completed, Standing::Completed), (Ending::Failed, Standing::Failed)] {
        let intent = Intent::new();
        let (claim, grant) = intent.won(store).await;
        let long = vec![b'x'; 1 << 16];
        answered(store.complete(&Complete { ending, ..intent.complete(&claim, grant, long, false) }).await);
        let seen = known(store, &intent).await;
        assert_eq!((seen.standing, seen.fence, seen.attempt), (standing, grant.fence, 1));
        assert!(!seen.is_unsettled());
    }
}

async fn an_unknown_outcome_is_told_whether_anyone_met_it_or_not(store: &impl Store) {
    let (abandoned, held) = (Intent::new(), Intent::new());
    abandoned.won(store).await;
    held.held(store).await;
    abandoned.lease_ends().await;
    let (abandoned, held) = (known(store, &abandoned).await, known(store, &held).await);
    assert_eq!((abandoned.standing, held.standing), (Standing::Abandoned, Standing::Uncertain));
    assert!(abandoned.is_unsettled() && held.is_unsettled());
    assert!(held.expires_in.is_some_and(|life| life > MS * 6 * 86_400_000), "it waits for a person: {held:?}");
}

async fn a_look_changes_nothing(store: &impl Store) {
    let intent = Intent::new();
    let (claim, grant) = intent.won(store).await;
    let before = known(store, &intent).await;
    tokio::time::sleep(MS * 20).await;
    let after = known(store, &intent).await;
    assert!(after.expires_in < before.expires_in, "its life goes on: {before:?}, {after:?}");
    assert_eq!(answered(store.renew(&intent.renew(&claim, grant, false)).await), RenewReply::Renewed);
}

/// The names hold what some stores take for patterns.
async fn a_survey_meets_every_record_of_an_operation_and_no_other(store: &impl Store) {
    let own = rand::random::<u64>();
    let names = ["", "*", "?", "[a-z]", "\\", "\\*", ".*", "%"].map(|awkward| format!("conformance.{own}{awkward}"));
    let keys = [String::from("1"), "[*]".into(), "{2}".into(), "é".into(), "long".repeat(100)];
    for name in &names {
        for key in &keys {
            of(name, key).held(store).await;
        }
    }
    for name in &names {
        let right: BTreeSet<_> = keys.iter().map(|key| of(name, key).operation.text().to_owned()).collect();
        assert_eq!(surveyed(store, Some(name.clone())).await, right, "{name}");
    }
}

async fn a_survey_of_all_meets_each_operation(store: &impl Store) {
    let own = rand::random::<u64>();
    let intents = ["a", "b"].map(|name| of(&format!("conformance.{own}.{name}"), "1"));
    for intent in &intents {
        intent.held(store).await;
    }
    let all = surveyed(store, None).await;
    for intent in &intents {
        assert!(all.contains(intent.operation.text()), "{}", intent.operation.text());
    }
}

fn of(name: &str, key: &str) -> Intent {
    let key = Key::of(key).expect("a key that is not blank");
    Intent { operation: Operation::new(name.to_owned(), None, &key), ..Intent::new() }
}

/// The texts of all records that a whole survey meets, each of which names an identity whose outcome is unknown, if it is
/// one of ours.
async fn surveyed(store: &impl Store, name: Option<String>) -> BTreeSet<String> {
    let mut met = BTreeSet::new();
    let mut from = None;
    let is_ours = name.is_some();
    let name = name.map(Cow::Owned);
    loop {
        let page = answered(store.survey(&Survey { name: name.clone(), from }).await);
        for found in page.found {
            let operation = Operation::from_text(&found.text).expect("the text of an identity");
            assert_eq!(operation.text(), found.text);
            let is_unsettled = matches!(found.reply, InspectReply::Known(known) if known.is_unsettled());
            assert!(is_unsettled || !is_ours, "{:?}", found.reply);
            met.insert(found.text);
        }
        match page.next {
            Some(next) => from = Some(next),
            None => return met,
        }
    }
}

const MS: Duration = Duration::from_millis(1);

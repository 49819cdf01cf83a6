//! Types with `#[derive(IdempotencyKey)]` as keys: what names the intent, what only belongs to it, what does not count.
#![cfg(feature = "macros")]

use std::borrow::Cow;
use std::time::Instant;

use idem::{Engine, Error, ErrorKind, Fingerprint, FingerprintBuilder, IdempotencyKey, Key, idempotent, with_engine};

fn key(value: &dyn IdempotencyKey) -> String {
    Key::of(value).expect("a valid key").as_str().to_owned()
}

fn rest(value: &dyn IdempotencyKey) -> Fingerprint {
    value.fingerprint(FingerprintBuilder::new()).finish().expect("a fingerprint")
}

fn of(value: &impl serde::Serialize) -> Fingerprint {
    Fingerprint::of(value).expect("a fingerprint")
}

/// No field of it but `text` needs serde.
#[derive(IdempotencyKey)]
struct Welcome<'a> {
    text: &'a str,
    #[idem(key)]
    campaign: Cow<'a, str>,
    #[idem(key)]
    user: u64,
    note: Option<u8>,
    #[idem(skip)]
    received: Instant,
}

fn welcome(user: u64, text: &str) -> Welcome<'_> {
    Welcome { text, campaign: "spring".into(), user, note: None, received: Instant::now() }
}

#[idempotent(name = "mail.welcome", key = message)]
async fn send(message: Welcome<'_>, retries: u8) -> Result<String, Error> {
    assert!(message.received.elapsed().as_secs() < 60);
    Ok(format!("{} {} {retries}", message.campaign, message.text))
}

#[idempotent(name = "mail.welcome.scoped", key = (tenant, message), skip(message))]
async fn send_whatever(tenant: &str, message: &Welcome<'_>) -> Result<String, Error> {
    Ok(format!("{tenant} {}", message.text))
}

#[tokio::test]
async fn a_message_is_the_key_and_the_rest_of_it_is_compared() {
    with_engine(Engine::in_memory(), async {
        assert_eq!(send(welcome(1, "hi"), 3).await.unwrap(), "spring hi 3");
        assert_eq!(send(welcome(1, "hi"), 3).await.unwrap(), "spring hi 3", "skipped fields do not count");
        assert_eq!(send(welcome(1, "ho"), 3).await.unwrap_err().kind(), ErrorKind::Mismatch);
        assert_eq!(send(welcome(1, "hi"), 4).await.unwrap_err().kind(), ErrorKind::Mismatch);
        let noted = Welcome { note: Some(1), ..welcome(1, "hi") };
        assert_eq!(send(noted, 3).await.unwrap_err().kind(), ErrorKind::Mismatch);
        assert_eq!(send(welcome(2, "ho"), 3).await.unwrap(), "spring ho 3");
    })
    .await;
}

#[tokio::test]
async fn a_skipped_key_is_compared_by_nothing_but_its_text() {
    with_engine(Engine::in_memory(), async {
        assert_eq!(send_whatever("a", &welcome(1, "hi")).await.unwrap(), "a hi");
        assert_eq!(send_whatever("a", &welcome(1, "ho")).await.unwrap(), "a hi");
        assert_eq!(send_whatever("b", &welcome(1, "ho")).await.unwrap(), "b ho");
    })
    .await;
}

#[tokio::test]
async fn without_the_attribute_the_rest_of_a_key_is_compared_too() {
    let engine = Engine::in_memory();
    let call = |text| engine.operation("mail").key(&welcome(1, text)).run(async |_| Ok::<_, Error>(1));
    call("hi").await.unwrap();
    assert_eq!(call("ho").await.unwrap_err().kind(), ErrorKind::Mismatch);
    assert_eq!(call("hi").await.unwrap(), 1);
}

#[test]
fn key_fields_are_a_tuple_in_order_and_the_others_a_struct() {
    #[derive(serde::Serialize)]
    struct Rest {
        text: &'static str,
        another: Option<u8>,
    }
    assert_eq!(key(&welcome(7, "hi")), key(&("spring", 7)));
    assert_eq!(rest(&welcome(7, "hi")), of(&(Rest { text: "hi", another: None },)));
}

#[derive(IdempotencyKey)]
struct OrderId(u64);

#[derive(IdempotencyKey)]
struct Wrapped<K>(K);

#[derive(IdempotencyKey)]
struct Only {
    #[idem(key)]
    id: OrderId,
}

#[test]
fn a_newtype_is_what_it_holds() {
    assert_eq!(key(&OrderId(7)), "7");
    assert_eq!(key(&Wrapped(("a", OrderId(7)))), "a:7");
    assert_eq!(rest(&Wrapped(OrderId(7))), of(&()));
    assert_eq!(rest(&Wrapped(welcome(1, "hi"))), rest(&welcome(1, "hi")));
    assert_eq!(key(&Only { id: OrderId(7) }), "7");
    assert_ne!(rest(&Only { id: OrderId(7) }), of(&()), "a struct may get more fields");
}

#[derive(IdempotencyKey)]
enum Target<T> {
    User(T),
    Group {
        org: u8,
        id: T,
    },
    #[idem(rename = "everyone")]
    All,
}

#[derive(IdempotencyKey)]
enum Event {
    Paid {
        #[idem(key)]
        order: u64,
        cents: u64,
    },
    Closed(u64),
    Pinged {
        #[idem(skip)]
        at: Instant,
    },
}

#[test]
fn variants_begin_with_their_names() {
    assert_eq!(key(&Target::User("a:b")), "User:a%3Ab");
    assert_eq!(key(&Target::Group { org: 1, id: 2 }), "Group:1:2");
    assert_eq!(key(&Target::<u8>::All), "everyone");
    assert_eq!(rest(&Target::Group { org: 1, id: 2 }), of(&()));

    let paid = |cents| Event::Paid { order: 1, cents };
    assert_eq!(key(&paid(5)), "Paid:1");
    assert_eq!(key(&Event::Closed(1)), "Closed:1");
    let pinged = Event::Pinged { at: Instant::now() };
    assert_eq!(key(&pinged), "Pinged");
    assert!(matches!(pinged, Event::Pinged { at } if at.elapsed().as_secs() < 60));
    assert_ne!(rest(&paid(5)), rest(&paid(6)));
}

#[test]
fn a_key_within_a_key_is_refused_where_it_is_missing() {
    assert!(Key::of(&Wrapped(None::<u8>)).is_err());
    assert!(Key::of(&Wrapped("")).is_err());
    assert!(Key::of(&Target::User("")).is_ok(), "the variant's name is there");
}

/// What generics need depends on where they are used.
#[derive(IdempotencyKey)]
#[allow(dead_code)]
struct Generic<'a, K: ?Sized, V, S, const N: usize>
where
    S: Iterator,
{
    #[idem(key)]
    id: &'a K,
    values: Vec<V>,
    #[idem(key)]
    bytes: Option<S::Item>,
    #[idem(skip)]
    source: [S; N],
}

#[test]
fn only_what_counts_needs_to_be_a_key_or_to_be_written() {
    let generic = Generic { id: "a", values: vec![1], bytes: Some('x'), source: ["y".chars()] };
    assert_eq!(key(&generic), "a:x");
}

//! Golden values: a fingerprint outlives the process, the build and the release that made it.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::net::IpAddr;
use std::time::Duration;

use idem_core::{Fingerprint, FingerprintBuilder};
use serde::{Serialize, Serializer};
use serde_json::json;

fn of(value: &(impl Serialize + ?Sized)) -> Fingerprint {
    Fingerprint::of(value).expect("a fingerprint")
}

/// Bytes as `serde_bytes` writes them.
struct Bytes(&'static [u8]);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

#[derive(Serialize)]
enum Payment {
    Cash,
    Card(&'static str),
    Split(u8, u8),
    Transfer { iban: &'static str },
    Voucher(Option<u8>),
    Gift(Option<u8>),
}

#[derive(Serialize)]
struct Order {
    id: u64,
    note: Option<&'static str>,
    lines: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    sku: &'static str,
    count: u16,
}

fn order() -> Order {
    Order { id: 7, note: None, lines: vec![Line { sku: "A-1", count: 2 }, Line { sku: "B-2", count: 1 }] }
}

/// Fifteen payloads whose fingerprints no later release may change.
fn golden() -> Vec<(&'static str, Fingerprint)> {
    let mut scattered = HashMap::new();
    for at in 0..50_u16 {
        scattered.insert(format!("key {at}"), BTreeMap::from([(at, Some(at % 3))]));
    }
    vec![
        ("unit", of(&())),
        ("none", of(&None::<u8>)),
        ("nothing", FingerprintBuilder::new().finish().expect("no argument")),
        ("typical", of(&("order-7", 1999_u64))),
        ("booleans", of(&[true, false])),
        ("integers", of(&(0, -1, 255, 256, u64::MAX, i64::MIN, u128::MAX, i128::MIN))),
        ("floats", of(&(0.0, -0.0, 1.0, 1e-7, 0.1_f32, f64::MAX, f64::NAN, f64::INFINITY))),
        ("texts", of(&("", "\0", 'ß', "line\nline", "🦀", "x".repeat(300)))),
        ("bytes", of(&(Bytes(&[0, 127, 255]), [0_u8, 127, 255]))),
        ("options", of(&(Some(1), None::<u8>, Some(None::<u8>), Some(())))),
        ("struct", of(&order())),
        (
            "variants",
            of(&[
                Payment::Cash,
                Payment::Card("4111"),
                Payment::Split(1, 2),
                Payment::Transfer { iban: "DE02" },
                Payment::Voucher(None),
                Payment::Gift(Some(3)),
            ]),
        ),
        ("hash map", of(&scattered)),
        ("json", of(&json!({ "b": [1, 1.0, null, "x", -2], "a": { "z": true, "y": {} } }))),
        ("readable", of(&(IpAddr::from([0; 16]), Duration::from_millis(1500)))),
    ]
}

/// The fixture was written by another process, and on another day.
#[test]
fn golden_values_never_change() {
    let mut lines = String::new();
    for (name, fingerprint) in golden() {
        write!(lines, "{name} = ").unwrap();
        for byte in fingerprint.as_bytes() {
            write!(lines, "{byte:02x}").unwrap();
        }
        lines.push('\n');
    }
    assert!(
        *lines == *include_str!("fixtures/fingerprints.txt"),
        "a changed fingerprint refuses every repeat that is under way: give it a new scheme.\n{lines}"
    );
}

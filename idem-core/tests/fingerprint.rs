//! What is the same intent and what is another, as the table in the docs of `Fingerprint` has it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use idem_core::{Fingerprint, FingerprintBuilder, IdempotencyKey, KeyWriter};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

fn of(value: &(impl Serialize + ?Sized)) -> Fingerprint {
    Fingerprint::of(value).expect("a fingerprint")
}

/// `same!(a, b, …)`: one intent, whatever the types.
macro_rules! same {
    ($first:expr, $($other:expr),+ $(,)?) => {
        $(assert_eq!(of(&$first), of(&$other), "{} and {}", stringify!($first), stringify!($other));)+
    };
}

/// `differ!(a, b, …)`: as many intents as values.
macro_rules! differ {
    ($($value:expr),+ $(,)?) => {
        let all = [$((stringify!($value), of(&$value))),+];
        for (at, (name, fingerprint)) in all.iter().enumerate() {
            for (other_name, other) in &all[..at] {
                assert_ne!(fingerprint, other, "{name} and {other_name}");
            }
        }
    };
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

#[test]
fn integers_are_compared_by_value_and_exactly() {
    same!(5_u8, 5_i8, 5_u16, 5_i32, 5_u64, 5_i64, 5_u128, 5_i128);
    same!(-5_i8, -5_i16, -5_i64, -5_i128);
    differ!(
        0,
        1,
        -1,
        255,
        256,
        -256,
        -257,
        i64::MAX,
        i64::MIN,
        u64::MAX,
        u64::MAX - 1,
        i128::MAX,
        i128::MIN,
        u128::MAX,
        u128::MAX - 1,
        130_775_545_883_395_173_i64,
        130_775_545_883_395_174_i64,
    );
}

#[test]
fn floats_are_compared_by_value() {
    same!(0.5_f32, 0.5_f64);
    same!(0.0_f32, -0.0_f32, 0.0_f64, -0.0_f64);
    same!(f32::NAN, f64::NAN, -f64::NAN, f64::from_bits(0x7ff8_dead_beef_0001));
    differ!(1, 1.0, "1", true, 1e-7, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.0, 0);
    // Not the same value: the nearest `f32` is another number.
    differ!(0.1_f32, 0.1_f64);
}

#[test]
fn texts_and_bytes() {
    same!("x", 'x', String::from("x"), Cow::Borrowed("x"));
    same!(b"ab".to_vec(), [97, 98], (97_u8, 98_u8));
    differ!("", "\0", "a", "ab", ["a", "b"], ("a", "b", ""), Bytes(b"ab"), b"ab".to_vec(), Bytes(b""));
    same!("127.0.0.1", "127.0.0.1".parse::<IpAddr>().unwrap());
    // One long text, however long its length is written.
    differ!("x".repeat(254), "x".repeat(255), "x".repeat(256), "x".repeat(70_000));
}

#[test]
fn neither_names_nor_order_of_fields_count() {
    #[derive(Serialize)]
    struct Renamed {
        lines: Vec<Value>,
        note: Option<String>,
        id: i128,
    }
    let renamed = Renamed {
        lines: vec![json!({ "count": 2, "sku": "A-1" }), json!({ "sku": "B-2", "count": 1 })],
        note: None,
        id: 7,
    };
    same!(order(), renamed, json!({ "lines": [{ "sku": "A-1", "count": 2 }, { "count": 1, "sku": "B-2" }], "id": 7 }),);
}

#[test]
fn order_in_a_sequence_counts() {
    same!([1, 2], vec![1, 2], (1, 2), BTreeSet::from([2, 1]));
    differ!([1, 2], [2, 1], [1, 2, 2], [[1, 2]], [[1], [2]], [1], 1);
    differ!([0; 0], [[0; 0]], ());
}

/// Case O-28.
#[test]
fn permuted_hash_maps_are_one_map() {
    type Deep = HashMap<String, HashMap<u32, HashMap<String, Vec<u32>>>>;
    fn deep(seed: usize) -> Deep {
        // Every map has a hasher of its own, hence an order of its own; the order of insertion differs too.
        let turned = |count: usize| (0..count).map(move |at| (at + seed) % count);
        turned(5)
            .map(|a| {
                let inner = turned(7).map(|b| {
                    let leaves = turned(3).map(|c| {
                        let number = u32::try_from(a * 100 + b * 10 + c).unwrap();
                        (format!("leaf {c}"), vec![number, number + 1])
                    });
                    (u32::try_from(b).unwrap(), leaves.collect())
                });
                (format!("{a}"), inner.collect())
            })
            .collect()
    }
    let first = of(&deep(0));
    let mut orders = BTreeSet::new();
    for seed in 0..200 {
        let permuted = deep(seed);
        orders.insert(permuted.keys().cloned().collect::<String>());
        assert_eq!(of(&permuted), first, "permutation {seed}");
    }
    assert!(orders.len() > 20, "the permutations permute nothing");

    let mut other = deep(0);
    other.get_mut("4").unwrap().get_mut(&6).unwrap().get_mut("leaf 2").unwrap()[1] += 1;
    assert_ne!(of(&other), first);
}

#[test]
fn an_absent_field_is_none_and_null_is_neither() {
    #[derive(Serialize)]
    struct Kept {
        id: u8,
        note: Option<u8>,
    }
    #[derive(Serialize)]
    struct Skipped {
        id: u8,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<u8>,
    }
    let none = Kept { id: 1, note: None };
    let some = Kept { id: 1, note: Some(2) };
    same!(none, Skipped { id: 1, note: None }, json!({ "id": 1 }), BTreeMap::from([("id", 1)]));
    same!(none, HashMap::from([("id", Some(1)), ("note", None)]));
    same!(some, Skipped { id: 1, note: Some(2) }, json!({ "note": 2, "id": 1 }),);
    differ!(none, some, json!({ "id": 1, "note": null }), json!({}), json!([]));
}

#[test]
fn none_counts_where_it_is_not_an_entry() {
    differ!(None::<u8>, (), Some(None::<u8>), Some(Some(None::<u8>)), [None::<u8>; 0], [None::<u8>], 0);
    differ!([Some(1), None], [None, Some(1)], [Some(1), Some(1)]);
    same!([Some(1), Some(2)], [1, 2]);
    same!(Some(Some(3)), 3);
    same!((), Value::Null, Some(()));
    // `Some(None)` of a field is "set to null" and present.
    differ!(BTreeMap::from([("a", Some(None::<u8>))]), BTreeMap::from([("a", None::<Option<u8>>)]),);
}

#[test]
fn variants_count_by_name_and_content() {
    #[derive(Serialize)]
    struct Newtype(u8);
    #[derive(Serialize)]
    #[serde(tag = "kind", rename_all = "lowercase")]
    enum Tagged {
        Card { number: u8 },
    }
    same!(Payment::Cash, "Cash");
    same!(Newtype(4), 4);
    differ!(
        Payment::Cash,
        Payment::Card("Cash"),
        Payment::Card(""),
        Payment::Split(1, 2),
        Payment::Split(2, 1),
        Payment::Transfer { iban: "x" },
        Payment::Voucher(None),
        Payment::Gift(None),
        Payment::Gift(Some(1)),
        json!({}),
        json!({ "Gift": 1 }),
    );
    same!(Tagged::Card { number: 1 }, json!({ "number": 1, "kind": "card" }));
}

#[test]
fn flattened_fields_are_fields() {
    #[derive(Serialize)]
    struct Outer {
        z: u8,
        #[serde(flatten)]
        line: Line,
        #[serde(flatten)]
        more: HashMap<&'static str, Value>,
    }
    let flat = Outer {
        z: 1,
        line: Line { sku: "s", count: 3 },
        more: HashMap::from([("b", json!([true])), ("a", json!(null))]),
    };
    same!(flat, json!({ "a": null, "b": [true], "count": 3, "sku": "s", "z": 1 }));
}

#[test]
fn keys_count_by_value() {
    differ!(
        BTreeMap::from([(1, "a")]),
        BTreeMap::from([("1", "a")]),
        BTreeMap::from([((1, 1), "a")]),
        BTreeMap::from([(None::<u8>, "a")]),
        BTreeMap::from([(1, "b")]),
        BTreeMap::from([(2, "a")]),
        BTreeMap::from([(2, "a"), (1, "a")]),
    );
    same!(BTreeMap::from([(1_u8, "a")]), HashMap::from([(1_i128, "a")]));
}

#[test]
fn a_builder_gives_what_the_tuple_gives() {
    let (id, amount, order) = ("order-7", 1999_u64, order());
    let built = FingerprintBuilder::new().arg(id).arg(&amount).arg(&order);
    assert_eq!(built.finish().unwrap(), of(&(id, amount, order)));
    assert_eq!(FingerprintBuilder::new().arg(&None::<u8>).finish().unwrap(), of(&(None::<u8>,)));
    assert_eq!(FingerprintBuilder::default().finish().unwrap(), of(&()));
    differ!((1, 2), ((1, 2),), (1,), 1, (1, 2, None::<u8>));
}

#[test]
fn named_values_count_as_a_struct_of_them() {
    #[derive(Serialize)]
    struct Rest {
        note: Option<&'static str>,
        cents: u64,
    }
    let as_struct = |note| of(&("id", Rest { note, cents: 5 }));
    let by_name = |note: Option<&str>| {
        let rest = FingerprintBuilder::new().arg("id").fields(|rest| rest.field("cents", &5_u8).field("note", &note));
        rest.finish().unwrap()
    };
    for note in [None, Some("x")] {
        assert_eq!(by_name(note), as_struct(note));
    }
    assert_ne!(by_name(None), by_name(Some("x")));
    assert_ne!(FingerprintBuilder::new().fields(|none| none).finish(), FingerprintBuilder::new().finish());
}

#[test]
fn a_key_of_parts_says_what_its_parts_say() {
    struct Payment(&'static str, u64);
    impl IdempotencyKey for Payment {
        fn write_key(&self, key: &mut KeyWriter) {
            key.part(self.0);
        }

        fn fingerprint(&self, rest: FingerprintBuilder) -> FingerprintBuilder {
            rest.arg(&self.1)
        }
    }
    let rest = |key: &dyn IdempotencyKey| key.fingerprint(FingerprintBuilder::new()).finish().unwrap();
    assert_eq!(rest(&("text", 7, Some('x'), Cow::Borrowed("text"))), of(&()));
    assert_eq!(rest(&(&Payment("a", 1), "text", Box::new(Some(Payment("b", 2))))), of(&(1, 2)));
    assert_eq!(rest(&Some(Arc::new(Payment("c", 3)))), of(&(3,)));
}

#[test]
fn debug_shows_no_digest() {
    let fingerprint = of(&"1234");
    assert_eq!(format!("{fingerprint:?}"), "Fingerprint(..)");
    assert_eq!(Fingerprint::from_bytes(*fingerprint.as_bytes()), fingerprint);
    let builder = FingerprintBuilder::new().arg("1234");
    assert!(!format!("{builder:?}").contains("1234"));
}

//! A decoder of the canonical form, which proves it: what it reads back is the value that was written, so different
//! values have different forms; and it ends where the value ends, so none is a prefix of another.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};

use super::canon::{
    BYTES, Canon, END, FALSE, FLOAT, INTEGER, JSON, MAP, NEGATIVE, NONE, SEQUENCE, SOME, TEXT, TRUE, UNIT, VARIANT,
};

/// A value as the canonical form sees it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    None,
    Some(Box<Seen>),
    Unit,
    Bool(bool),
    Natural(u128),
    /// −1 − n
    Negative(u128),
    Float(u64),
    Text(String),
    Bytes(Vec<u8>),
    Json(String),
    Variant(String, Box<Seen>),
    Sequence(Vec<Seen>),
    Map(BTreeMap<Seen, Seen>),
}

impl Seen {
    /// The like-built value of the form: one sign per zero, one NaN, no absent entries, no `Some` that can be told
    /// without.
    fn canonical(self) -> Self {
        match self {
            Self::Float(bits) if f64::from_bits(bits).is_nan() => Self::Float(f64::NAN.to_bits()),
            Self::Float(bits) if f64::from_bits(bits) == 0.0 => Self::Float(0),
            Self::Some(inner) => match inner.canonical() {
                inner @ (Self::None | Self::Some(_)) => Self::Some(Box::new(inner)),
                inner => inner,
            },
            Self::Variant(name, content) => Self::Variant(name, Box::new(content.canonical())),
            Self::Sequence(items) => Self::Sequence(items.into_iter().map(Self::canonical).collect()),
            Self::Map(entries) => Self::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| (key.canonical(), value.canonical()))
                    .filter(|(_, value)| *value != Self::None)
                    .collect(),
            ),
            other => other,
        }
    }
}

impl Serialize for Seen {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_none(),
            Self::Some(inner) => serializer.serialize_some(inner),
            Self::Unit => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Natural(value) => serializer.serialize_u128(*value),
            Self::Negative(value) => serializer.serialize_i128(-1 - i128::try_from(*value).unwrap()),
            Self::Float(bits) => serializer.serialize_f64(f64::from_bits(*bits)),
            Self::Text(value) => serializer.serialize_str(value),
            Self::Bytes(value) => serializer.serialize_bytes(value),
            Self::Json(_) => unreachable!("not made by the strategy"),
            Self::Variant(name, content) => serializer.serialize_newtype_variant("E", 0, variant(name), content),
            Self::Sequence(items) => {
                let mut sequence = serializer.serialize_seq(None)?;
                for item in items {
                    sequence.serialize_element(item)?;
                }
                sequence.end()
            }
            Self::Map(entries) => {
                let mut map = serializer.serialize_map(None)?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

const VARIANTS: [&str; 3] = ["", "A", "Ab"];

/// Serde wants names that live for ever.
fn variant(name: &str) -> &'static str {
    VARIANTS.into_iter().find(|known| *known == name).unwrap()
}

/// Reads one value; what is left belongs to others.
fn decode(bytes: &[u8]) -> Option<(Seen, &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    Some(match tag {
        NONE => (Seen::None, rest),
        UNIT => (Seen::Unit, rest),
        FALSE | TRUE => (Seen::Bool(tag == TRUE), rest),
        SOME => {
            let (inner, rest) = decode(rest)?;
            (Seen::Some(Box::new(inner)), rest)
        }
        FLOAT => {
            let (bits, rest) = rest.split_first_chunk()?;
            (Seen::Float(u64::from_be_bytes(*bits)), rest)
        }
        INTEGER | NEGATIVE | TEXT | BYTES | JSON | VARIANT => {
            let (content, rest) = sized(rest)?;
            let text = || String::from_utf8(content.to_vec()).ok();
            match tag {
                INTEGER => (Seen::Natural(number(content)?), rest),
                NEGATIVE => (Seen::Negative(number(content)?), rest),
                TEXT => (Seen::Text(text()?), rest),
                JSON => (Seen::Json(text()?), rest),
                BYTES => (Seen::Bytes(content.to_vec()), rest),
                _ => {
                    let (inner, rest) = decode(rest)?;
                    (Seen::Variant(text()?, Box::new(inner)), rest)
                }
            }
        }
        SEQUENCE => {
            let (items, rest) = until_end(rest)?;
            (Seen::Sequence(items), rest)
        }
        MAP => {
            let (items, rest) = until_end(rest)?;
            let (pairs, []) = items.as_chunks::<2>() else {
                return None;
            };
            let entries = pairs.iter().cloned().map(|[key, value]| (key, value));
            (Seen::Map(entries.collect()), rest)
        }
        _ => return None,
    })
}

fn until_end(mut bytes: &[u8]) -> Option<(Vec<Seen>, &[u8])> {
    let mut items = Vec::new();
    while *bytes.first()? != END {
        let (item, rest) = decode(bytes)?;
        items.push(item);
        bytes = rest;
    }
    Some((items, &bytes[1..]))
}

fn sized(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&short, rest) = bytes.split_first()?;
    if short < 255 {
        return rest.split_at_checked(short.into());
    }
    let (long, rest) = rest.split_first_chunk()?;
    rest.split_at_checked(u64::from_le_bytes(*long).try_into().ok()?)
}

/// One form per number: a leading zero would be a second one.
fn number(digits: &[u8]) -> Option<u128> {
    (digits.first() != Some(&0)).then(|| digits.iter().fold(0, |number, &digit| number << 8 | u128::from(digit)))
}

#[test]
fn the_form_is_what_its_docs_say() {
    assert_eq!(form(&("order-7", 1999)), b"[\"\x07order-7+\x02\x07\xcf]");
    let maps = BTreeMap::from([("b", Some(-1)), ("a", None), ("", Some(0))]);
    assert_eq!(form(&maps), b"{\"\x00+\x00\"\x01b~\x00]");
    let digest = blake3::keyed_hash(b"idem fingerprint scheme 1       ", b"t");
    assert_eq!(super::Fingerprint::of(&true).unwrap().as_bytes(), &digest.as_bytes()[..16]);
}

fn form(value: &(impl Serialize + ?Sized)) -> Vec<u8> {
    let mut canon = Canon::new();
    value.serialize(&mut canon).unwrap();
    assert!(canon.entries.is_empty(), "entries left behind");
    canon.bytes
}

fn seen(value: &(impl Serialize + ?Sized)) -> Seen {
    let bytes = form(value);
    let (seen, rest) = decode(&bytes).expect("a form that can be read");
    assert!(rest.is_empty());
    seen
}

fn any_value() -> impl Strategy<Value = Seen> {
    let leaf = prop_oneof![
        Just(Seen::None),
        Just(Seen::Unit),
        any::<bool>().prop_map(Seen::Bool),
        any::<u128>().prop_map(Seen::Natural),
        any::<u8>().prop_map(|small| Seen::Natural(small.into())),
        (0..=i128::MAX.unsigned_abs()).prop_map(Seen::Negative),
        any::<u64>().prop_map(Seen::Float),
        prop::num::f64::ANY.prop_map(|float| Seen::Float(float.to_bits())),
        ".{0,3}".prop_map(Seen::Text),
        "[a\\]\\[-]{250,260}".prop_map(Seen::Text),
        prop::collection::vec(any::<u8>(), 0..4).prop_map(Seen::Bytes),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|value| Seen::Some(Box::new(value))),
            (prop::sample::select(&VARIANTS[..]), inner.clone())
                .prop_map(|(name, value)| Seen::Variant(name.to_owned(), Box::new(value))),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Seen::Sequence),
            prop::collection::vec((inner.clone(), inner), 0..4).prop_map(|entries| {
                // Two keys of one form would be one key of the map that is read back.
                let keyed = entries.into_iter().map(|(k, v)| (k.canonical(), v));
                Seen::Map(keyed.collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// For any two values: the same form exactly if they are the same.
    #[test]
    fn the_form_gives_the_value_back(value in any_value()) {
        prop_assert_eq!(seen(&value), value.canonical());
    }

    #[test]
    fn no_form_is_a_prefix_of_another(a in any_value(), b in any_value()) {
        let (form_a, form_b) = (form(&a), form(&b));
        let same = a.canonical() == b.canonical();
        prop_assert_eq!(form_a == form_b, same);
        prop_assert!(same || !form_a.starts_with(&form_b) && !form_b.starts_with(&form_a));
    }

    #[test]
    fn formatted_text_is_text(text in ".{0,300}") {
        prop_assert_eq!(form(&Formatted(&text)), form(&text));
    }

    #[test]
    fn integers_are_compared_by_value(value: i64) {
        let wide = form(&i128::from(value));
        prop_assert_eq!(&form(&value), &wide);
        if let Ok(value) = u64::try_from(value) {
            prop_assert_eq!(&form(&value), &wide);
        }
        if let Ok(value) = i8::try_from(value) {
            prop_assert_eq!(&form(&value), &wide);
        }
    }
}

struct Formatted<'a>(&'a str);

impl Serialize for Formatted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // In pieces, as formatting does.
        let mut halves = self.0.to_owned();
        let mut at = halves.len() / 2;
        while !halves.is_char_boundary(at) {
            at -= 1;
        }
        let second = halves.split_off(at);
        serializer.collect_str(&format_args!("{halves}{second}"))
    }
}

/// What `serde_json` hands over with features that this build may not have.
struct Private(&'static str, &'static str);

impl Serialize for Private {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut fields = serializer.serialize_struct(self.0, 1)?;
        fields.serialize_field(self.0, self.1)?;
        fields.end()
    }
}

#[test]
fn a_number_kept_as_text_is_the_number() {
    let number = |text| seen(&Private("$serde_json::private::Number", text));
    assert_eq!(number("0"), seen(&0));
    assert_eq!(number("18446744073709551615"), seen(&u64::MAX));
    assert_eq!(number("-9223372036854775808"), seen(&i64::MIN));
    assert_eq!(number("-1"), seen(&-1));
    // What `serde_json` reads as floats without the feature.
    assert_eq!(number("18446744073709551616"), seen(&18_446_744_073_709_551_616.0_f64));
    assert_eq!(number("100000000000000000000"), seen(&1e20));
    assert_eq!(number("123456789012345680000"), seen(&123_456_789_012_345_680_000.0_f64));
    // What it would read wrong.
    assert_eq!(number("18446744073709551617"), seen(&18_446_744_073_709_551_617_u128));
    assert_eq!(number("-9223372036854775809"), seen(&-9_223_372_036_854_775_809_i128));
    let digits = "1234567890".repeat(8);
    assert_eq!(number(digits.clone().leak()), Seen::Json(digits));
    assert_eq!(number("-0"), seen(&0.0));
    assert_eq!(number("1.0"), seen(&1.0));
    assert_eq!(number("1e2"), seen(&100.0));
    assert_eq!(number("1E-7"), seen(&1e-7));
    assert_eq!(number("0.1000000000000000055511151231257827"), seen(&0.1));
    assert_eq!(number("1e400"), Seen::Json("1e400".to_owned()));
    assert_ne!(number("1e400"), number("1e401"));
}

#[test]
fn raw_json_is_the_value_it_reads_as() {
    let raw = |text| seen(&Private("$serde_json::private::RawValue", text));
    let value = serde_json::json!({ "a": [1, null, "x"], "b": 0.5 });
    assert_eq!(raw(r#"{ "b": 0.5, "a": [1, null, "x"] }"#), seen(&value));
    assert_eq!(raw("null"), Seen::Unit);
    let deep: &'static str = ("[".repeat(500) + &"]".repeat(500)).leak();
    assert_eq!(raw(deep), Seen::Json(deep.to_owned()));
}

#[test]
fn a_part_that_fails_leaves_no_trace() {
    struct Tolerant;
    impl Serialize for Tolerant {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            map.serialize_entry("b", &1)?;
            let broken = BTreeMap::from([(1, Ok(0)), (2, Err(Failing))]);
            assert!(map.serialize_entry("a", &BTreeMap::from([(0, broken)])).is_err());
            map.serialize_entry("absent", &None::<u8>)?;
            map.serialize_entry("a", &2)?;
            map.end()
        }
    }
    assert_eq!(form(&Tolerant), form(&BTreeMap::from([("a", 2), ("b", 1)])));
}

#[test]
fn a_key_without_a_value_is_refused() {
    struct Half(bool);
    impl Serialize for Half {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            if self.0 {
                map.serialize_key("a")?;
            } else {
                map.serialize_value("a")?;
            }
            map.end()
        }
    }
    assert!(Half(true).serialize(&mut Canon::new()).is_err());
    assert!(Half(false).serialize(&mut Canon::new()).is_err());
}

/// Fails, with the data in its message.
#[derive(Clone, Copy)]
struct Failing;

impl Serialize for Failing {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("card 4111 1111 1111 1111"))
    }
}

#[test]
fn an_error_names_the_type_and_no_data() {
    let failed = super::Fingerprint::of(&Failing).unwrap_err();
    assert!(failed.type_name().ends_with("Failing"));
    let built = super::FingerprintBuilder::new().arg("x").arg(&Failing).arg(&1);
    assert_eq!(built.finish(), Err(failed.clone()));
    for shown in [failed.to_string(), format!("{failed:?}")] {
        assert!(!shown.contains("4111") && !shown.contains('\n'), "{shown}");
    }
    assert!(std::error::Error::source(&failed).is_none());
}

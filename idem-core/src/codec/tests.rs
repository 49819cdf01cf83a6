//! What comes back, and what is refused (O-31, O-33): one table for all codecs, then what each has of its own.

mod damage;
mod json;
mod lengths;
#[cfg(feature = "messagepack")]
mod messagepack;

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::net::IpAddr;

use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use self::damage::Bytes;
use super::{Codec, DecodeReason, EncodeError};

const NO_LIMIT: usize = usize::MAX;

fn codecs() -> impl Iterator<Item = Codec> {
    (0..=255).filter_map(Codec::from_letter)
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "fifty calls read better without `&`")]
fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T) {
    for codec in codecs() {
        comes_back_in(codec, &value);
    }
}

#[track_caller]
fn comes_back_in<T: Serialize + DeserializeOwned + PartialEq + Debug>(codec: Codec, value: &T) {
    let payload = codec.encode_kept(value, NO_LIMIT).unwrap();
    assert!(!payload.is_empty());
    assert_eq!(&codec.decode::<T>(&payload).unwrap(), value, "{codec:?}");
    // The header may be lost, the payload's end may not: nothing may follow it.
    let longer = [&payload[..], b"0]"].concat();
    assert!(codec.decode::<T>(&longer).is_err(), "{codec:?}");
}

#[track_caller]
fn refused(value: &(impl Serialize + ?Sized), why: &EncodeError) {
    for codec in codecs() {
        refused_by(codec, value, why);
    }
}

#[track_caller]
fn refused_by(codec: Codec, value: &(impl Serialize + ?Sized), why: &EncodeError) {
    assert_eq!(codec.encode(value, NO_LIMIT).as_ref(), Err(why), "{codec:?}");
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Unit;

#[derive(Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord, Debug, Clone, Copy)]
enum Shade {
    Light,
    Dark,
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
enum Answer {
    Nothing,
    One(Option<u8>),
    Two(u8, f32),
    Named { text: String, more: Vec<Answer> },
}

#[test]
fn letters_name_codecs() {
    let letters: Vec<u8> = codecs().map(Codec::letter).collect();
    assert_eq!(letters, if cfg!(feature = "messagepack") { &b"jm"[..] } else { b"j" });
    assert!(codecs().all(|codec| Codec::from_letter(codec.letter()) == Some(codec)));
}

#[test]
fn falsy_values_come_back() {
    comes_back(());
    comes_back(None::<u8>);
    comes_back(false);
    comes_back(0);
    comes_back(0.0);
    comes_back(String::new());
    comes_back(Vec::<u8>::new());
    comes_back([0_u8; 0]);
    comes_back(HashMap::<String, u8>::new());
    comes_back(Unit);
    comes_back(Ok::<Option<u8>, u8>(None));
    comes_back(Ok::<(), ()>(()));
    comes_back(vec![None, Some(0_u8), None]);
    comes_back(Value::Null);
    comes_back(BTreeMap::from([("a".to_owned(), None::<u8>)]));
}

#[test]
fn numbers_come_back_digit_for_digit() {
    comes_back((u64::MAX, i64::MIN, 130_775_545_883_395_173_u64));
    comes_back((u128::MAX, i128::MIN, i128::MAX));
    comes_back(json!([u64::MAX, i64::MIN, 130_775_545_883_395_173_u64, 1, 1.0, 1e-7]));
    comes_back((1e-7, f64::MAX, f64::MIN_POSITIVE, 5e-324, 0.1 + 0.2));
    comes_back((0.1_f32, f32::MAX, f32::MIN_POSITIVE, 1e-45_f32, 7.038_531e-26_f32));
    comes_back(Real(-0.0));
}

#[test]
fn lists_and_maps_come_back_as_what_they_were() {
    comes_back((json!([]), json!({}), json!([[]]), json!([{}]), json!({ "": [] })));
    comes_back(vec![
        Answer::Nothing,
        Answer::One(None),
        Answer::One(Some(1)),
        Answer::Two(1, 0.1),
        Answer::Named { text: "x".to_owned(), more: vec![Answer::Nothing] },
    ]);
}

#[test]
fn bytes_and_texts_come_back() {
    comes_back((0..=255).collect::<Vec<u8>>());
    comes_back(Bytes((0..=255).collect()));
    comes_back("\0 \u{1f} \u{7f} \" \\ \\u0000 \\ud800 \u{2028} \u{10ffff} ß 🦀".to_owned());
    comes_back(['\0', '"', '🦀']);
    comes_back("five megabytes of text\n".repeat(5 * 1024 * 1024 / 23));
}

#[test]
fn keys_come_back() {
    comes_back(BTreeMap::from([(String::new(), 1), ("\"\0".to_owned(), 2)]));
    comes_back(BTreeMap::from([(0_u32, 1), (u32::MAX, 2)]));
    comes_back(BTreeMap::from([(i64::MIN, 1), (-1, 2)]));
    comes_back(BTreeMap::from([(u128::MAX, 1)]));
    comes_back(BTreeMap::from([(i128::MIN, 1)]));
    comes_back(BTreeMap::from([(false, 1), (true, 2)]));
    comes_back(BTreeMap::from([('"', 1), ('🦀', 2)]));
    comes_back(BTreeMap::from([(Shade::Light, 1), (Shade::Dark, 2)]));
    comes_back(BTreeMap::from([(Some(3_u8), 1)]));
    comes_back(BTreeMap::from([(Real(-0.0), 1), (Real(1e-7), 2), (Real(0.1), 3), (Real(1.0), 4), (Real(1e300), 5)]));
}

/// Serde reads these into a buffer first, and from it as a format for people would be read.
#[test]
fn flattened_fields_and_tagged_enums_come_back() {
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Flat {
        id: u64,
        #[serde(flatten)]
        inner: Inner,
        #[serde(flatten)]
        more: BTreeMap<String, Value>,
    }
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Inner {
        address: IpAddr,
        none: Option<Unit>,
    }
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    #[serde(tag = "kind")]
    enum Tagged {
        Nothing,
        Host { address: IpAddr, weight: f32 },
    }
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    #[serde(tag = "kind", content = "of")]
    enum Adjacent {
        Nothing,
        Host(IpAddr, u64),
    }
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    #[serde(untagged)]
    enum Untagged {
        Number(i64),
        Host(IpAddr),
        Nothing,
    }
    let address: IpAddr = "2001:db8::1".parse().unwrap();
    let more = BTreeMap::from([("a".to_owned(), json!([{}, null, -1]))]);
    comes_back(Flat { id: u64::MAX, inner: Inner { address, none: None }, more });
    comes_back(vec![Tagged::Nothing, Tagged::Host { address, weight: 0.1 }]);
    comes_back(vec![Adjacent::Nothing, Adjacent::Host(address, 1)]);
    comes_back(vec![Untagged::Number(i64::MIN), Untagged::Host(address), Untagged::Nothing]);
}

/// What a deploy may change while results of the release before are kept.
#[test]
fn a_field_with_a_default_can_be_added_and_any_field_removed() {
    #[derive(Serialize)]
    enum Before {
        Paid { id: u64, fee: f64 },
    }
    #[derive(Deserialize, PartialEq, Debug)]
    enum After {
        Paid {
            #[serde(default)]
            note: Option<String>,
            id: u64,
        },
    }
    for codec in codecs() {
        let payload = codec.encode(&Before::Paid { id: 7, fee: 0.5 }, NO_LIMIT).unwrap();
        assert_eq!(codec.decode::<After>(&payload).unwrap(), After::Paid { note: None, id: 7 });
    }
}

#[test]
fn a_some_that_reads_as_none_is_refused() {
    #[derive(Serialize)]
    struct Newtype<T>(T);
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Untagged {
        Nothing,
    }
    let why = EncodeError::SomeOfNull;
    refused(&Some(None::<u8>), &why);
    refused(&Some(()), &why);
    refused(&Some(Value::Null), &why);
    refused(&Some(Newtype(None::<u8>)), &why);
    refused(&Newtype(Some(Box::new(()))), &why);
    refused(&Some(Untagged::Nothing), &why);
    refused(&Some(Some(None::<u8>)), &why);
    refused(&vec![("a", Answer::One(None), Some(None::<u8>))], &why);
    refused(&BTreeMap::from([("a", Some(()))]), &why);
    comes_back(Some(Some(1)));
    comes_back(None::<Option<u8>>);
    comes_back(Some("null".to_owned()));
    comes_back(Some(vec![(); 1]));
    comes_back(Some(Answer::One(None)));
}

#[test]
#[expect(
    clippy::option_option,
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "the usual way to say it, in the signature serde wants"
)]
fn a_field_that_tells_null_from_absent_comes_back() {
    fn unit_for_none<S: Serializer>(value: &Option<Option<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(Some(value)) => value.serialize(serializer),
            _ => serializer.serialize_unit(),
        }
    }
    fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<u8>>, D::Error> {
        Deserialize::deserialize(deserializer).map(Some)
    }
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Patch {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(serialize_with = "unit_for_none", deserialize_with = "some")]
        note: Option<Option<u8>>,
    }
    for note in [None, Some(None), Some(Some(1))] {
        comes_back(Patch { note });
    }
}

#[test]
fn what_cannot_be_read_is_not_kept() {
    #[derive(Serialize, Deserialize)]
    struct Lost {
        #[serde(skip_serializing, rename = "secret")]
        _secret: u8,
    }
    #[derive(Serialize, Deserialize)]
    struct Renamed {
        #[serde(rename(serialize = "ID"))]
        id: String,
    }
    #[derive(Serialize, Deserialize)]
    struct Nested(Vec<Nested>);
    #[derive(Serialize, Deserialize)]
    enum Chain {
        Next(Box<Chain>),
        End,
    }

    for codec in codecs() {
        assert_eq!(unreadable(codec, &Lost { _secret: 1 }), DecodeReason::OtherType);
        let id = "4111".to_owned();
        assert_eq!(unreadable(codec, &Renamed { id }), DecodeReason::OtherType);
        let deep = (0..200).fold(Nested(vec![]), |inner, _| Nested(vec![inner]));
        assert_eq!(unreadable(codec, &deep), DecodeReason::Malformed);
        let deep = (0..200).fold(Chain::End, |inner, _| Chain::Next(Box::new(inner)));
        assert_eq!(unreadable(codec, &deep), DecodeReason::Malformed);
    }
}

#[track_caller]
fn unreadable<T: Serialize + DeserializeOwned>(codec: Codec, value: &T) -> DecodeReason {
    match codec.encode_kept(value, NO_LIMIT) {
        Err(EncodeError::Unreadable(why)) => why.reason(),
        other => panic!("{codec:?}: {other:?}"),
    }
}

#[test]
fn a_refusal_stands_whatever_a_type_makes_of_it() {
    struct Tolerant;
    impl Serialize for Tolerant {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut items = serializer.serialize_seq(None)?;
            assert!(items.serialize_element(&Some(())).is_err());
            items.end()
        }
    }
    refused(&Tolerant, &EncodeError::SomeOfNull);
}

/// A float that can be a key.
#[derive(Serialize, Deserialize, Debug, Clone, Copy)]
struct Real(f64);

impl Ord for Real {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Real {}

/// A map of what need not be ordered.
struct Map<K, V>(Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Map<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

proptest! {
    #[test]
    fn values_come_back(
        float in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
        single in prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL,
        wide: i128,
        text: String,
        bytes: Vec<u8>,
        keyed: BTreeMap<i64, Option<char>>,
    ) {
        comes_back((float.to_string(), Real(float), single, wide, text, bytes, keyed));
    }
}

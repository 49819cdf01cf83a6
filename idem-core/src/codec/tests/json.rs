//! What is JSON's own: the text, and what has no text.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Answer, Bytes, Map, NO_LIMIT, Unit, refused_by, unreadable};
use crate::codec::{Codec, DecodeReason, EncodeError};

#[track_caller]
fn text(value: &impl Serialize, text: &str) {
    assert_eq!(String::from_utf8(Codec::Json.encode(value, NO_LIMIT).unwrap()).unwrap(), text);
}

fn refused(value: &(impl Serialize + ?Sized), why: &EncodeError) {
    refused_by(Codec::Json, value, why);
}

#[test]
fn the_text_is_plain_json() {
    text(&Vec::<u8>::new(), "[]");
    text(&HashMap::<String, u8>::new(), "{}");
    text(&(u64::MAX, i64::MIN, 1e-7, None::<u8>), "[18446744073709551615,-9223372036854775808,1e-7,null]");
    text(&json!({ "a": ["ß\n", {}] }), "{\"a\":[\"ß\\n\",{}]}");
}

#[test]
fn keys_that_are_no_text_are_refused() {
    let why = EncodeError::KeyNotText;
    refused(&BTreeMap::from([((1, 2), 1)]), &why);
    refused(&BTreeMap::from([((), 1)]), &why);
    refused(&BTreeMap::from([(vec![1], 1)]), &why);
    refused(&BTreeMap::from([(None::<u8>, 1)]), &why);
    refused(&[BTreeMap::from([(Ok::<u8, u8>(1), 1)])], &why);
    refused(&Map(vec![(Bytes(vec![1]), 1)]), &why);
    refused(&Map(vec![(f64::NAN, 1)]), &EncodeError::NonFiniteFloat);
}

#[test]
fn floats_json_has_no_word_for_are_refused() {
    let why = EncodeError::NonFiniteFloat;
    refused(&f64::NAN, &why);
    refused(&f32::INFINITY, &why);
    refused(&Some(vec![("deep", HashMap::from([("down", f64::NEG_INFINITY)]))]), &why);
    refused(&Answer::Two(1, f32::NAN), &why);
}

#[test]
fn what_reads_as_none_includes_unit_structs() {
    refused(&Some(Unit), &EncodeError::SomeOfNull);
}

/// `serde` reads keys of flattened maps as they are written, and JSON has texts only.
#[test]
fn a_flattened_map_with_numbers_as_keys_is_not_kept() {
    #[derive(Serialize, Deserialize)]
    struct Flat {
        #[serde(flatten)]
        by_number: HashMap<u32, u32>,
    }
    let by_number = HashMap::from([(1, 1)]);
    assert_eq!(unreadable(Codec::Json, &Flat { by_number }), DecodeReason::OtherType);
}

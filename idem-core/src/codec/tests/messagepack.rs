//! What is MessagePack's own: what it keeps beyond JSON, its size, and payloads whose lengths lie.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Answer, Bytes, NO_LIMIT, Real, Shade, Unit, comes_back_in};
use crate::codec::{Codec, DecodeReason};

const CODEC: Codec = Codec::MessagePack;

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "calls read better without `&`")]
fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T) {
    comes_back_in(CODEC, &value);
}

#[test]
fn any_float_comes_back_bit_for_bit() {
    let not_a_number = f64::from_bits(0x7ff8_0000_dead_beef);
    comes_back([f64::INFINITY, f64::NEG_INFINITY, not_a_number, -f64::NAN].map(Real));
    comes_back((f32::INFINITY, f32::NEG_INFINITY));
    let payload = CODEC.encode(&f32::from_bits(0x7fc0_1234), NO_LIMIT).unwrap();
    assert_eq!(CODEC.decode::<f32>(&payload).unwrap().to_bits(), 0x7fc0_1234);
}

#[test]
fn any_keys_come_back() {
    comes_back(BTreeMap::from([((1, 2), 1), ((1, 3), 2)]));
    comes_back(BTreeMap::from([((), 1)]));
    comes_back(BTreeMap::from([(vec![1, 2], 1), (vec![], 2)]));
    comes_back(BTreeMap::from([(None::<u8>, 1), (Some(0), 2)]));
    comes_back(BTreeMap::from([(Ok::<u8, u8>(1), 1), (Err(1), 2)]));
    comes_back(BTreeMap::from([(Real(f64::NAN), 1), (Real(-0.0), 2), (Real(0.0), 3)]));
    comes_back(BTreeMap::from([(BTreeSet::from([Shade::Light]), BTreeMap::from([(u128::MAX, 1.5)]))]));
    comes_back(BTreeMap::from([([0_u8; 32], [Some(1); 4])]));
}

#[test]
fn a_flattened_map_with_numbers_as_keys_comes_back() {
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Flat {
        name: String,
        #[serde(flatten)]
        by_number: BTreeMap<u32, u32>,
    }
    comes_back(Flat { name: "x".to_owned(), by_number: (0..20).map(|n| (n, n)).collect() });
}

/// They are written as an empty list, so `Some` of one is not `None`.
#[test]
fn unit_structs_come_back_inside_an_option() {
    comes_back(Some(Unit));
    comes_back((Some(Some(Unit)), None::<Unit>, [Unit, Unit]));
}

#[test]
fn fields_have_names_and_bytes_take_a_byte() {
    let payload = CODEC.encode(&Answer::Named { text: "x".to_owned(), more: vec![] }, NO_LIMIT).unwrap();
    assert_eq!(payload, b"\x81\xa5Named\x82\xa4text\xa1x\xa4more\x90");
    assert_eq!(CODEC.encode(&Bytes(vec![0xff; 1000]), NO_LIMIT).unwrap().len(), 1003);
    assert_eq!(CODEC.encode(&u128::MAX, NO_LIMIT).unwrap().len(), 18);
}

#[test]
fn payloads_whose_lengths_lie_are_refused_before_anybody_believes_them() {
    #[derive(Deserialize)]
    struct Nested(#[expect(dead_code, reason = "only its depth matters")] Vec<Nested>);
    use DecodeReason::{Malformed, OtherType, Truncated};
    for (payload, reason) in [
        (&b""[..], Truncated),
        (b"\xdd\xff\xff\xff\xff", Truncated),
        (b"\xdd\xff\xff\xff\xff\x01\x02\x03", Truncated),
        (b"\xdf\x80\x00\x00\x00", Truncated),
        (b"\xc6\xff\xff\xff\xff", Truncated),
        (b"\xdb\xff\xff\xff\xffabc", Truncated),
        (b"\xc9\xff\xff\xff\xff\x01", Truncated),
        (b"\xdc\x00", Truncated),
        (b"\xd9", Truncated),
        (b"\xcf\x00", Truncated),
        (b"\x82\x01\x02", Truncated),
        (b"\x92\x91\x01", Truncated),
        (b"\xc1", Malformed),
        (b"\x91\xc1", Malformed),
        (b"\x01\x01", Malformed),
        (b"\x91\x01\x91", Malformed),
        (b"\xa1\xff", Malformed),
        (b"\x93\x01\x02\x03", OtherType),
        (b"\xd4\x01\x01", OtherType),
    ] {
        assert_eq!(CODEC.decode::<String>(payload).unwrap_err().reason(), reason, "{payload:02x?}");
    }
    let deep = |depth: usize| [&vec![0x91; depth][..], &[0x90]].concat();
    assert!(CODEC.decode::<Nested>(&deep(127)).is_ok());
    assert_eq!(CODEC.decode::<Nested>(&deep(128)).map(drop).unwrap_err().reason(), Malformed);
    assert_eq!(CODEC.decode::<Nested>(&deep(1 << 20)).map(drop).unwrap_err().reason(), Malformed);
}

/// Every kind of value there is is passed over by its own length.
#[test]
fn values_of_every_kind_are_skipped() {
    let wide = [&b"\xc4\x01x\xc5\x00\x01x\xc6\x00\x00\x00\x01x"[..], b"\xd9\x01x\xda\x00\x01x\xdb\x00\x00\x00\x01x"];
    let numbers = b"\xcc1\xcd22\xce4444\xcf88888888\xd01\xd122\xd24444\xd388888888\xca4444\xcb88888888\x00\xff";
    let extensions = [
        &b"\xd4t1\xd5t22\xd6t4444\xd7t88888888\xd8t0123456789abcdef"[..],
        b"\xc7\x01tx\xc8\x00\x01tx\xc9\x00\x00\x00\x01tx",
    ];
    let others = b"\xc0\xc2\xc3\xa1x\x90\x80\x91\x01\x81\x01\x02\xdc\x00\x01\x01\xdd\x00\x00\x00\x01\x01\xde\x00\x01\x01\x02\xdf\x00\x00\x00\x01\x01\x02";
    let values = [&wide.concat()[..], numbers, &extensions.concat(), others].concat();
    let count = u8::try_from(6 + 12 + 8 + 12).unwrap();
    let payload = [&[0xdc, 0, count], &values[..]].concat();
    assert_eq!(CODEC.decode::<Vec<serde::de::IgnoredAny>>(&payload).unwrap().len(), usize::from(count));
    for end in 0..payload.len() {
        assert_eq!(
            CODEC.decode::<Vec<serde::de::IgnoredAny>>(&payload[..end]).unwrap_err().reason(),
            DecodeReason::Truncated
        );
    }
}

//! Payloads that are not what was written, and what an error shows (O-32).

use std::collections::HashMap;
use std::fmt;

use proptest::prelude::*;
use serde::de::{SeqAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{Answer, NO_LIMIT, Shade, codecs};
use crate::codec::{Codec, DecodeReason, EncodeError};
use crate::record::{Record, State};

const SECRET: &str = "4111 1111 1111 1111";

#[test]
fn errors_show_no_data() {
    struct Failing;
    impl Serialize for Failing {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(S::Error::custom(SECRET))
        }
    }
    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Typed {
        #[serde(rename(serialize = "4111 1111 1111 1111"))]
        number: u8,
    }
    for why in [
        EncodeError::NonFiniteFloat,
        EncodeError::SomeOfNull,
        EncodeError::KeyNotText,
        EncodeError::TooLarge { max: 1 },
    ] {
        shows_no_data(&why);
    }
    for codec in codecs() {
        shows_no_data(&codec.encode(&Failing, NO_LIMIT).unwrap_err());
        shows_no_data(&codec.encode_kept(&Typed { number: 1 }, NO_LIMIT).unwrap_err());
        let payload = codec.encode(SECRET, NO_LIMIT).unwrap();
        shows_no_data(&codec.decode::<u8>(&payload).unwrap_err());
        shows_no_data(&codec.decode::<Shade>(&payload).unwrap_err());
        shows_no_data(&codec.decode::<u8>(&payload[1..]).unwrap_err());
    }
}

fn shows_no_data(error: &dyn std::error::Error) {
    let mut next = Some(error);
    while let Some(error) = next {
        for shown in [error.to_string(), format!("{error:?}")] {
            assert!(!shown.contains("4111") && !shown.contains('\n'), "{shown}");
        }
        next = error.source();
    }
}

#[test]
fn a_flaw_is_named_with_its_type_and_place() {
    let why = Codec::Json.decode::<Shade>(b"\"Blue\"").unwrap_err();
    assert_eq!(why.reason(), DecodeReason::OtherType);
    assert!(why.type_name().ends_with("Shade"));
    assert!(why.to_string().ends_with("it is of another type at line 1, column 6"));
    for (payload, reason) in [
        (&b""[..], DecodeReason::Truncated),
        (b"\"Da", DecodeReason::Truncated),
        (b"\xff\xfe", DecodeReason::Malformed),
        (b"\"Dark\" \"Dark\"", DecodeReason::Malformed),
        (b"{}", DecodeReason::OtherType),
    ] {
        assert_eq!(Codec::Json.decode::<Shade>(payload).unwrap_err().reason(), reason);
    }
    for codec in codecs() {
        let why = codec.decode::<Shade>(&codec.encode("Blue", NO_LIMIT).unwrap()).unwrap_err();
        assert_eq!(why.reason(), DecodeReason::OtherType);
        assert!(why.to_string().contains("Shade`: it is of another type"), "{why}");
    }
}

/// Bytes as `serde_bytes` writes and reads them.
#[derive(PartialEq, Debug)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(Numbers).map(Self)
    }
}

/// No payload of these tests holds more bytes.
const LONGEST: usize = 256;

/// Reads bytes; nothing in a payload may make it set memory aside.
struct Numbers;

impl<'de> Visitor<'de> for Numbers {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        let believed = items.size_hint().unwrap_or(0);
        assert!(believed <= LONGEST, "a payload's word is believed: {believed} bytes");
        while let Some(byte) = items.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        // Nearly JSON, so that the reader gets somewhere.
        r#"[\[\]{}",:0-9eE.+\-ntfaul\\ ]{0,40}"#.prop_map(String::into_bytes),
        // Nearly MessagePack.
        prop::collection::vec(
            prop_oneof![0_u8..4, 0x80_u8..0x84, 0x90_u8..0x94, 0xa0_u8..0xa4, 0xc0_u8..=0xdf, Just(0xff)],
            0..40
        ),
    ]
}

/// Whole records: headers that are one, nearly one, or none.
fn any_record() -> impl Strategy<Value = Vec<u8>> {
    const HEADERS: [&[u8]; 2] =
        [b"1Cj1--5GBwCWhO---1-kBI7nC2JqCnVtNL8YO5Ka", b"1Cm1--5GBwCWhO---1-kBI7nC2JqCnVtNL8YO5Ka"];
    let intact = prop::sample::select(&HEADERS).prop_map(<[u8]>::to_vec);
    let damaged = (intact.clone(), 0_usize..40, any::<u8>()).prop_map(|(mut header, at, byte)| {
        header[at] = byte;
        header
    });
    let header = prop_oneof![2 => intact, 1 => damaged, 1 => prop::collection::vec(any::<u8>(), 0..50)];
    (header, any_bytes()).prop_map(|(header, payload)| [header, payload].concat())
}

fn decode_as_anything(codec: Codec, payload: &[u8]) {
    let _ = codec.decode::<()>(payload);
    let _ = codec.decode::<Value>(payload);
    let _ = codec.decode::<String>(payload);
    let _ = codec.decode::<Bytes>(payload);
    let _ = codec.decode::<Option<Vec<Vec<f32>>>>(payload);
    let _ = codec.decode::<HashMap<u128, [Answer; 2]>>(payload);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn no_payload_makes_decoding_panic(payload in any_bytes()) {
        for codec in codecs() {
            decode_as_anything(codec, &payload);
        }
    }

    #[test]
    fn no_record_makes_reading_panic(record in any_record()) {
        if let Ok(Record { state: State::Completed(kept), .. }) = Record::from_bytes(&record.into())
            && let Some(codec) = kept.codec
        {
            decode_as_anything(codec, &kept.payload);
        }
    }
}

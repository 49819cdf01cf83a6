//! Payloads that are not what was written, and what an error shows (O-32).

use std::collections::HashMap;
use std::fmt;

use proptest::prelude::*;
use serde::de::{SeqAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{Answer, NO_LIMIT, Shade};
use crate::codec::{Codec, DecodeReason, EncodeError};

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
    let quoting = [
        Codec::Json.encode(&Failing, NO_LIMIT).unwrap_err(),
        Codec::Json.encode_kept(&Typed { number: 1 }, NO_LIMIT).unwrap_err(),
        EncodeError::NonFiniteFloat,
        EncodeError::SomeOfNull,
        EncodeError::KeyNotText,
        EncodeError::TooLarge { max: 1 },
    ];
    for why in &quoting {
        shows_no_data(why);
    }
    let payload = format!("\"{SECRET}\"");
    shows_no_data(&Codec::Json.decode::<u8>(payload.as_bytes()).unwrap_err());
    shows_no_data(&Codec::Json.decode::<Shade>(payload.as_bytes()).unwrap_err());
    shows_no_data(&Codec::Json.decode::<u8>(&payload.as_bytes()[1..]).unwrap_err());
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

/// Reads bytes; nothing in a payload may make it set memory aside.
struct Numbers;

impl<'de> Visitor<'de> for Numbers {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        assert_eq!(items.size_hint(), None, "a payload's word is believed");
        while let Some(byte) = items.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        // Nearly JSON, so that the reader gets somewhere.
        r#"[\[\]{}",:0-9eE.+\-ntfaul\\ ]{0,40}"#.prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn no_payload_makes_decoding_panic(payload in any_bytes()) {
        let _ = Codec::Json.decode::<()>(&payload);
        let _ = Codec::Json.decode::<Value>(&payload);
        let _ = Codec::Json.decode::<String>(&payload);
        let _ = Codec::Json.decode::<Bytes>(&payload);
        let _ = Codec::Json.decode::<Option<Vec<Vec<f32>>>>(&payload);
        let _ = Codec::Json.decode::<HashMap<u128, [Answer; 2]>>(&payload);
    }
}

//! Values that are too long, or do not know how long they are.

use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Serialize, Serializer};

use super::{codecs, comes_back, refused};
use crate::codec::EncodeError;

#[test]
fn a_large_value_is_given_up_early() {
    /// Has no end, but fails to see it.
    struct Endless;
    impl Serialize for Endless {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut items = serializer.serialize_seq(None)?;
            loop {
                items.serialize_element("more and more")?;
            }
        }
    }

    let why = |max| EncodeError::TooLarge { max };
    for codec in codecs() {
        for text in ["x".repeat(98), "xy".repeat(49)] {
            let len = codec.encode(&text, 100).unwrap().len();
            assert_eq!(codec.encode(&text, len).unwrap().len(), len);
            assert_eq!(codec.encode(&text, len - 1), Err(why(len - 1)));
            assert_eq!(codec.encode_kept(&text, len - 1), Err(why(len - 1)));
        }
        assert_eq!(codec.encode(&0, 0), Err(why(0)));
        assert_eq!(codec.encode(&Endless, 1 << 20), Err(why(1 << 20)), "{codec:?}");
    }
}

/// A list that does not know its length.
#[derive(Deserialize, PartialEq, Debug)]
#[serde(transparent)]
struct Streamed<T>(Vec<T>);

impl<T: Serialize> Serialize for Streamed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut items = serializer.serialize_seq(None)?;
        for item in &self.0 {
            items.serialize_element(item)?;
        }
        items.end()
    }
}

#[test]
fn lists_that_do_not_know_their_length_come_back() {
    for len in [0, 1, 15, 16, 1 << 16] {
        comes_back((Streamed(vec![7_u16; len]), 1));
    }
    comes_back(Streamed((0..20).map(|len| Streamed(vec![Some(len); len])).collect()));
    refused(&Streamed(vec![Some(())]), &EncodeError::SomeOfNull);
}

/// A length that a type announces is a hint, as it is in `Iterator`.
#[test]
fn lists_that_are_wrong_about_their_length_come_back() {
    #[derive(Deserialize, PartialEq, Debug)]
    #[serde(transparent)]
    struct Wrong(Vec<u8>);
    impl Serialize for Wrong {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let (said, items) = self.0.split_first().unwrap();
            let mut list = serializer.serialize_seq(Some(usize::from(*said)))?;
            list.serialize_element(said)?;
            for item in items {
                list.serialize_element(item)?;
            }
            list.end()
        }
    }
    for said in [0, 1, 2, 20, 200] {
        comes_back((Wrong(vec![said, 1]), Wrong(vec![said; 30]), "end".to_owned()));
    }
}

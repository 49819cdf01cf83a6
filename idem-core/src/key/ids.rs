//! Identifiers of other crates as keys, as the text that they are known by.

use crate::key::{IdempotencyKey, KeyWriter};

#[cfg(feature = "uuid")]
impl IdempotencyKey for uuid::Uuid {
    fn write_key(&self, key: &mut KeyWriter) {
        key.part(self.as_hyphenated());
    }
}

#[cfg(feature = "ulid")]
impl IdempotencyKey for ulid::Ulid {
    fn write_key(&self, key: &mut KeyWriter) {
        key.part(self.array_to_str(&mut [0; ulid::ULID_LEN]));
    }
}

#[cfg(test)]
mod tests {
    use crate::key::Key;

    #[cfg(feature = "uuid")]
    #[test]
    fn a_uuid_reads_hyphenated_and_in_lower_case() {
        let text = "67e55044-10b1-426f-9247-bb680e5fe0c8";
        for written in [text, "67E5504410B1426F9247BB680E5FE0C8", "urn:uuid:67e55044-10b1-426f-9247-bb680e5fe0c8"] {
            let uuid: uuid::Uuid = written.parse().unwrap();
            assert_eq!(Key::of(&uuid).unwrap().as_str(), text);
        }
    }

    #[cfg(feature = "ulid")]
    #[test]
    fn a_ulid_reads_in_upper_case() {
        let text = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        for written in [text, &text.to_lowercase()] {
            let ulid: ulid::Ulid = written.parse().unwrap();
            assert_eq!(Key::of(&ulid).unwrap().as_str(), text);
        }
    }
}

//! Numbers as fixed-width text that sorts as the numbers do.
//!
//! A Lua number is a double and loses digits above 2^53, so numbers cross the border to scripts as text. The alphabet is
//! URL-safe base64 put into ASCII order; a script compares and raises such text byte by byte (`lua/claim.lua`).

/// The digits, in ASCII order.
pub(crate) const ALPHABET: &[u8; 64] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

const BITS: u32 = 6;
const INVALID: u8 = u8::MAX;

const VALUES: [u8; 256] = {
    let mut values = [INVALID; 256];
    let mut digit = 0;
    while digit < 64 {
        values[ALPHABET[digit as usize] as usize] = digit;
        digit += 1;
    }
    values
};

/// `value` in exactly `N` digits, the most significant first.
pub(crate) fn write<const N: usize>(mut value: u128) -> [u8; N] {
    let mut text = [ALPHABET[0]; N];
    for digit in text.iter_mut().rev() {
        *digit = ALPHABET[(value & 0x3f) as usize];
        value >>= BITS;
    }
    text
}

/// The number that `text` spells, or `None` if a byte is no digit or the number is over 128 bits.
pub(crate) fn read(text: &[u8]) -> Option<u128> {
    text.iter().try_fold(0_u128, |value, &byte| {
        let digit = VALUES[byte as usize];
        let fits = digit != INVALID && value <= u128::MAX >> BITS;
        fits.then(|| value << BITS | u128::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_alphabet_is_in_ascii_order() {
        assert!(ALPHABET.is_sorted_by(|a, b| a < b));
    }

    proptest! {
        #[test]
        fn text_reads_back_as_the_number(value: u128) {
            prop_assert_eq!(read(&write::<22>(value)), Some(value));
        }

        #[test]
        fn text_sorts_as_the_numbers_do(a: u64, b: u64) {
            let (text_a, text_b) = (write::<11>(a.into()), write::<11>(b.into()));
            prop_assert_eq!(text_a.cmp(&text_b), a.cmp(&b));
        }
    }

    #[test]
    fn no_digit_and_no_room_are_refused() {
        assert_eq!(read(b"--:"), None);
        assert_eq!(read("é".as_bytes()), None);
        assert_eq!(read(&[b'z'; 22]), None);
    }
}

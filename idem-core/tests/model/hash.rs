//! A hash that is fast enough for millions of states in a debug build.

use std::hash::{BuildHasherDefault, Hasher};

pub(crate) type Fast = BuildHasherDefault<Fx>;

/// The hash of Firefox and rustc: not for what an attacker chooses.
#[derive(Default)]
pub(crate) struct Fx(u64);

impl Fx {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Fx {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.add((*byte).into());
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.add(number.into());
    }

    fn write_u16(&mut self, number: u16) {
        self.add(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.add(number.cast_unsigned() as u64);
    }

    fn finish(&self) -> u64 {
        // The table looks at both ends of the number.
        self.0 ^ (self.0 >> 29)
    }
}

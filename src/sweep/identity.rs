//! Whether two shards belong to one sweep.

use super::grid::Grid;
use super::metric::Metric;
use crate::scenario::{Family, Points, Shown};

/// A number that two runs share where scenario, overrides, axes, columns, format and version of the program are the same,
/// and the files that they name hold the same: FNV-1a with 64 bits (Fowler, Noll, Vo) over all of these as text. It tells mistakes apart, not attacks.
pub fn fingerprint(family: &Family, grid: &Grid, metrics: &[&Metric], format: &str) -> String {
    let mut hash = Fnv::default();
    hash.add(env!("CARGO_PKG_VERSION"));
    hash.add(&family.identity());
    family.add_files(grid.axes().map(|(_, axis)| axis), &mut |bytes| {
        hash.bytes(&(bytes.len() as u64).to_le_bytes());
        hash.bytes(bytes);
    });
    hash.add(format);
    for metric in metrics {
        hash.add(metric.name);
    }
    for (dimension, axis) in grid.axes() {
        hash.add(&format!("{dimension} {} {:?}", axis.key, axis.unit));
        for index in 0..axis.count() {
            add_value(&mut hash, axis, index);
        }
    }
    hash.text()
}

fn add_value(hash: &mut Fnv, axis: &Points, index: usize) {
    match axis.shown(index) {
        Shown::Number(number) => hash.bytes(&number.to_bits().to_le_bytes()),
        Shown::Other(text, _) => hash.add(text),
    }
}

/// The hash of bytes so far.
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// A text and its end.
    pub fn add(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(&[0xff]);
    }

    /// Some bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl Fnv {
    /// The hash, 16 hexadecimal digits.
    pub fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Fnv;

    /// Vectors of Landon Curt Noll's `test_fnv.c` for FNV-1a, 64 bits.
    #[test]
    fn the_hash_is_fnv_1a() {
        let of = |text: &str| {
            let mut hash = Fnv::default();
            hash.bytes(text.as_bytes());
            hash.0
        };
        assert_eq!(of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(of("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(of("foobar"), 0x8594_4171_f739_67e8);
    }
}

//! Numbers that the host and the kernel `fill` make alike, and bf16 on the host.

use half::bf16;

/// The function `hash` of kernels/common.cu: two rounds of xor-shift and multiplication, a bijection of 32-bit words.
pub(super) const fn hash(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// Word `index` of a buffer that `fill` filled in mode 0.
pub(super) const fn word(index: u32, seed: u32) -> u32 {
    hash(index.wrapping_mul(0x9e37_79b9).wrapping_add(seed))
}

/// Values of bf16 in \[-0.5, 0.5), as `fill` makes them in mode 1.
pub(super) fn units(count: usize, seed: u32) -> Vec<bf16> {
    let unit = |half: u32| bf16::from_f32((half as f32 - 32768.0) / 65536.0);
    let pairs = (0..count.div_ceil(2) as u32).map(|i| word(i, seed));
    pairs.flat_map(|h| [unit(h & 0xffff), unit(h >> 16)]).take(count).collect()
}

/// Whole numbers 0 to 7 in bf16, as `fill` makes them in mode 2: sums of up to 32 of them are exact in bf16.
pub(super) fn wholes(count: usize, seed: u32) -> Vec<bf16> {
    let pairs = (0..count.div_ceil(2) as u32).map(|i| word(i, seed));
    pairs
        .flat_map(|h| [bf16::from_f32((h & 7) as f32), bf16::from_f32(((h >> 3) & 7) as f32)])
        .take(count)
        .collect()
}

/// fp8 e4m3 values as `fill` makes them in mode 3, as bytes.
pub(super) fn eights(count: usize, seed: u32) -> Vec<u8> {
    let words = (0..count.div_ceil(4) as u32).map(|i| (word(i, seed) & 0x8787_8787) | 0x3030_3030);
    words.flat_map(u32::to_le_bytes).take(count).collect()
}

/// The value of such a byte: sign, (1 + mantissa / 8) / 2.
pub(super) fn eight(byte: u8) -> f32 {
    let size = 0.5 + f32::from(byte & 7) / 16.0;
    if byte & 0x80 == 0 { size } else { -size }
}

/// As floats.
pub(super) fn floats(values: &[bf16]) -> Vec<f32> {
    values.iter().map(|value| value.to_f32()).collect()
}

/// Distance of two vectors over the length of the second; not a number if either holds one.
pub(super) fn distance(got: &[f32], want: &[f32]) -> f64 {
    assert_eq!(got.len(), want.len(), "a result has the size of its reference");
    let square = |x: f32| f64::from(x) * f64::from(x);
    let off: f64 = got.iter().zip(want).map(|(a, b)| square(a - b)).sum();
    (off / want.iter().map(|x| square(*x)).sum::<f64>()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_in_range_and_vary() {
        let values = floats(&units(4096, 7));
        assert!(values.iter().all(|x| (-0.5..=0.5).contains(x)));
        let mean = values.iter().sum::<f32>() / 4096.0;
        let square = values.iter().map(|x| x * x).sum::<f32>() / 4096.0;
        assert!(mean.abs() < 0.02 && (square - 1.0 / 12.0).abs() < 0.005, "{mean} {square}");
        assert_ne!(units(64, 7), units(64, 8));
        assert!(wholes(100, 3).iter().all(|x| (0.0..8.0).contains(&x.to_f32()) && x.to_f32().fract() == 0.0));
    }

    #[test]
    fn eight_ranks_of_whole_numbers_add_up_exactly_in_any_order() {
        let ranks: Vec<_> = (0..8).map(|rank| wholes(1000, rank)).collect();
        for i in 0..1000 {
            let up =
                ranks.iter().fold(bf16::ZERO, |sum, rank| bf16::from_f32(sum.to_f32() + rank[i].to_f32()));
            let exact: f32 = ranks.iter().map(|rank| rank[i].to_f32()).sum();
            assert!((up.to_f32() - exact).abs() < f32::EPSILON);
        }
    }

    #[test]
    fn distance_sees_a_hole() {
        assert!(distance(&[1.0, 2.0], &[1.0, 2.0]) < 1e-12);
        assert!((distance(&[0.0, 2.0], &[1.0, 2.0]) - (0.2f64).sqrt()).abs() < 1e-12);
        assert!(distance(&[f32::NAN], &[1.0]).is_nan());
    }
}

//! Weights in the order in which lanes of the kernels of kernels/gemv.cu want them.
//!
//! A tile is 16 outputs, a block 64 of k, a step 16 of them: one operand A of `mma.m16n8k16`. Lane `4 g + t` holds, of
//! step s and register i, output `g + 8 (i % 2)` and k `32 (s / 2) + 8 t + 4 (s % 2) + 2 (i / 2)` and the next: the order
//! within k is free as long as the activations follow it, and in this one a lane takes 16 bytes of those at a time.

use half::bf16;

/// The output and the first of two neighbouring k that register `i` of a lane holds, within tile and block.
const fn place(lane: usize, step: usize, register: usize) -> (usize, usize) {
    let (g, t) = (lane / 4, lane % 4);
    (g + 8 * (register % 2), 32 * (step / 2) + 8 * t + 4 * (step % 2) + 2 * (register / 2))
}

/// Calls `put` with the index of a register among all and the index of its first weight in `n` x `k`, row by row.
fn each_register(n: usize, k: usize, steps_apart: bool, mut put: impl FnMut(usize, usize)) {
    assert!(n.is_multiple_of(16) && k.is_multiple_of(64), "whole tiles and blocks");
    let blocks = k / 64;
    for tile in 0..n / 16 {
        for block in 0..blocks {
            for (lane, step, register) in (0..32).flat_map(|lane| (0..16).map(move |i| (lane, i / 4, i % 4)))
            {
                let (output, inner) = place(lane, step, register);
                let at = tile * blocks + block;
                let index = if steps_apart {
                    ((at * 4 + step) * 32 + lane) * 4 + register
                } else {
                    // INT4: the four registers of a step share a word.
                    ((at * 32 + lane) * 4 + step) * 4 + register
                };
                put(index, (tile * 16 + output) * k + block * 64 + inner);
            }
        }
    }
}

/// bf16 weights, `n` x `k` row by row.
pub(super) fn pack_bf16(weights: &[bf16], n: usize, k: usize) -> Vec<u32> {
    let mut packed = vec![0; n * k / 2];
    each_register(n, k, true, |index, at| {
        packed[index] = u32::from(weights[at].to_bits()) | u32::from(weights[at + 1].to_bits()) << 16;
    });
    packed
}

/// INT4 weights (0 to 15 for -8 to 7), `n` x `k` row by row.
pub(super) fn pack_int4(weights: &[u8], n: usize, k: usize) -> Vec<u32> {
    let mut packed = vec![0; n * k / 8];
    each_register(n, k, false, |index, at| {
        let pair = u32::from(weights[at]) | u32::from(weights[at + 1]) << 16;
        packed[index / 4] |= pair << (4 * (index % 4));
    });
    packed
}

/// Scales, `n` x `k / group` row by row, as pairs of outputs 8 apart.
pub(super) fn pack_scales(scales: &[bf16], n: usize, groups: usize) -> Vec<u32> {
    let bits = |output: usize, group: usize| u32::from(scales[output * groups + group].to_bits());
    let mut packed = Vec::with_capacity(n / 2 * groups);
    for group in 0..groups {
        for tile in 0..n / 16 {
            packed.extend((0..8).map(|g| bits(tile * 16 + g, group) | bits(tile * 16 + 8 + g, group) << 16));
        }
    }
    packed
}

/// The value of a weight: (q - 8) times the scale.
pub(super) fn dequantised(weight: u8, scale: bf16) -> f32 {
    (f32::from(weight) - 8.0) * scale.to_f32()
}

#[cfg(test)]
mod tests {
    use super::super::random::word;
    use super::*;

    #[test]
    fn every_weight_has_one_place() {
        for steps_apart in [true, false] {
            let (n, k) = (32, 128);
            let mut seen = vec![0u8; n * k];
            let mut used = vec![false; n * k / 2];
            each_register(n, k, steps_apart, |index, at| {
                assert!(!std::mem::replace(&mut used[index], true));
                seen[at] += 1;
                seen[at + 1] += 1;
            });
            assert!(seen.iter().all(|&count| count == 1) && used.iter().all(|&used| used));
        }
    }

    #[test]
    fn int4_words_come_apart_as_the_kernel_takes_them_apart() {
        let (n, k) = (16, 64);
        let weights: Vec<u8> = (0..n * k).map(|i| (word(i as u32, 1) & 15) as u8).collect();
        let packed = pack_int4(&weights, n, k);
        for lane in 0..32 {
            for step in 0..4 {
                for register in 0..4 {
                    // As kernels/gemv.cu: ((word >> 4 i) & 0x000f000f) | 0x43004300 are the bf16 128 + q.
                    let pair = (packed[lane * 4 + step] >> (4 * register)) & 0x000f_000f | 0x4300_4300;
                    let (output, inner) = place(lane, step, register);
                    let low = bf16::from_bits((pair & 0xffff) as u16).to_f32() - 128.0;
                    let high = bf16::from_bits((pair >> 16) as u16).to_f32() - 128.0;
                    assert!((low - f32::from(weights[output * k + inner])).abs() < 0.5);
                    assert!((high - f32::from(weights[output * k + inner + 1])).abs() < 0.5);
                }
            }
        }
    }

    #[test]
    fn a_lane_takes_sixteen_bytes_of_the_activations_at_a_time() {
        for lane in 0..32 {
            for half in 0..2 {
                let inner: Vec<usize> = (0..2)
                    .flat_map(|q| [0, 2].map(|register| place(lane, half * 2 + q, register).1))
                    .flat_map(|k| [k, k + 1])
                    .collect();
                let first = half * 32 + (lane % 4) * 8;
                assert_eq!(inner, (first..first + 8).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn scales_stand_in_pairs() {
        let scales: Vec<bf16> = (0..32 * 3).map(|i| bf16::from_f32(i as f32)).collect();
        let packed = pack_scales(&scales, 32, 3);
        // Group 2, tile 1, g = 5: outputs 21 and 29.
        let pair = packed[(2 * 2 + 1) * 8 + 5];
        assert_eq!(bf16::from_bits((pair & 0xffff) as u16), scales[21 * 3 + 2]);
        assert_eq!(bf16::from_bits((pair >> 16) as u16), scales[29 * 3 + 2]);
    }
}

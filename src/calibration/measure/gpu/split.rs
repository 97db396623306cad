//! Attention whose tokens are split over blocks: the parts and how they meet.

use super::super::Failure;
use super::super::ffi::{Arg, Buffer, Grid};
use super::device::Gpu;

/// Outputs of parts, their softmax statistics, and the merged output.
pub(super) struct Parts {
    /// Unscaled outputs, `[part][query][width]` of float.
    pub(super) outputs: Buffer,
    /// Maximum and total of each part and query.
    pub(super) stats: Buffer,
    /// The result in bf16.
    pub(super) out: Buffer,
    count: u32,
    queries: u64,
    width: u32,
}

impl Parts {
    /// Room for them.
    pub(super) fn new(gpu: &Gpu, parts: u32, queries: u64, width: u32) -> Result<Self, Failure> {
        let places = u64::from(parts) * queries;
        Ok(Self {
            outputs: gpu.buffer(4 * places * u64::from(width))?,
            stats: gpu.buffer(8 * places)?,
            out: gpu.buffer(2 * queries * u64::from(width))?,
            count: parts,
            queries,
            width,
        })
    }

    /// Queues the merging.
    pub(super) fn merge(&self, gpu: &Gpu) -> Result<(), Failure> {
        let grid =
            Grid { blocks: [self.queries as u32, self.width.div_ceil(128), 1], threads: 256, shared: 0 };
        gpu.kernel("attention_merge", 0)?.launch(
            &gpu.stream,
            grid,
            &[
                Arg::Wide(self.outputs.at()),
                Arg::Wide(self.stats.at()),
                Arg::Wide(self.out.at()),
                Arg::Word(self.count),
                Arg::Wide(self.queries),
                Arg::Word(self.width),
            ],
        )
    }
}

/// Most parts that `attention_merge` has room for.
const MOST: u32 = 1024;

/// In how many parts to split `units` of tokens, at least `least` of them in each, where `beside` blocks stand beside one
/// another for each part and `slots` blocks run at once: as many as make the rounds of blocks fullest, and a part more
/// costs a hundredth.
pub(super) fn split(units: u32, beside: u32, slots: u32, least: u32) -> u32 {
    let most = (units / least.max(1)).min(2 * slots.div_ceil(beside.max(1))).clamp(1, MOST);
    let cost = |parts: u32| {
        let rounds = (beside * parts).div_ceil(slots.max(1));
        f64::from(rounds) / f64::from(parts) * (1.0 + 0.01 * f64::from(parts))
    };
    (1..=most).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn few_requests_are_split_and_many_are_not() {
        assert_eq!(split(4096, 8, 264, 4), 33);
        assert_eq!(split(64, 8, 264, 4), 16);
        assert_eq!(split(4096, 512, 264, 4), 1);
        assert_eq!(split(1, 1, 264, 4), 1);
    }

    #[test]
    fn no_round_of_blocks_is_nearly_empty() {
        // 5 parts of 64 blocks would need a second round for 56 of them.
        assert_eq!(split(512, 64, 264, 4), 4);
        assert_eq!(split(512, 16, 132, 2), 8);
    }
}

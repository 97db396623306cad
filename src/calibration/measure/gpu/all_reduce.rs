//! All-reduce by kernels that read their peers' memory: every rank reads all inputs (one-shot), or reduces its share and
//! gathers those of the others (two-shot).
//!
//! Ranks are GPUs, or for a test several streams of one GPU.

use super::super::Failure;
use super::super::ffi::{Arg, Buffer, Grid, Kernel, Stream};
use super::device::Gpu;
use super::unsupported;

/// Most ranks and blocks that kernels/peers.cu has flags for.
pub(super) const MOST_RANKS: u32 = 8;
const MOST_BLOCKS: u64 = 64;

/// One rank's part in a group of peers.
pub(super) struct Peer {
    /// Its input.
    pub(super) input: Buffer,
    /// Its output.
    pub(super) out: Buffer,
    scratch: Buffer,
    flags: Buffer,
    counter: Buffer,
    table: Buffer,
    rank: u32,
    ranks: u32,
    bytes: u64,
}

/// How many inputs a rank reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shots {
    /// All of each.
    One,
    /// Its share of each, then the shares of the others.
    Two,
}

/// Maps the memory of each GPU into all others.
///
/// # Errors
/// Two of them are no peers.
pub(super) fn map_all(gpus: &[&Gpu]) -> Result<(), Failure> {
    for a in gpus {
        for b in gpus.iter().filter(|b| b.ordinal != a.ordinal) {
            if !super::super::ffi::can_map(&a.context, &b.context)? {
                let (a, b) = (a.ordinal, b.ordinal);
                return Err(unsupported(format!("GPU {a} cannot map the memory of GPU {b}")));
            }
            a.context.map(&b.context)?;
        }
    }
    Ok(())
}

/// Buffers of every rank, whose inputs hold whole numbers, ready to run.
///
/// # Errors
/// More ranks than flags, no peers, or no memory.
pub(super) fn group(gpus: &[&Gpu], bytes: u64) -> Result<Vec<Peer>, Failure> {
    let ranks = gpus.len() as u32;
    if !(2..=MOST_RANKS).contains(&ranks) || !bytes.is_multiple_of(16) || bytes == 0 {
        return Err(unsupported(format!(
            "the own all-reduce takes 2 to 8 ranks and 16s of bytes, not {ranks} and {bytes}"
        )));
    }
    map_all(gpus)?;
    let one = |(rank, gpu): (usize, &&Gpu)| -> Result<Peer, Failure> {
        let zeros = |bytes| -> Result<Buffer, Failure> {
            let buffer = gpu.buffer(bytes)?;
            buffer.set(0)?;
            Ok(buffer)
        };
        Ok(Peer {
            input: gpu.filled(bytes, super::device::Fill::Wholes, rank as u32)?,
            out: gpu.buffer(bytes)?,
            scratch: gpu.buffer(bytes.div_ceil(16).div_ceil(u64::from(ranks)) * 16)?,
            flags: zeros(4 * 2 * MOST_BLOCKS * u64::from(MOST_RANKS))?,
            counter: zeros(4 * MOST_BLOCKS)?,
            table: gpu.buffer(8 * 3 * u64::from(ranks))?,
            rank: rank as u32,
            ranks,
            bytes,
        })
    };
    let peers = gpus.iter().enumerate().map(one).collect::<Result<Vec<_>, _>>()?;
    let parts: [fn(&Peer) -> u64; 3] =
        [|peer| peer.input.at(), |peer| peer.scratch.at(), |peer| peer.flags.at()];
    let table: Vec<u64> = parts.iter().flat_map(|part| peers.iter().map(part)).collect();
    for peer in &peers {
        peer.table.write(&table)?;
    }
    Ok(peers)
}

impl Peer {
    /// Queues one all-reduce; each rank must queue as many.
    pub(super) fn launch(&self, gpu: &Gpu, on: &Stream, shots: Shots) -> Result<(), Failure> {
        let count = self.bytes / 16;
        let each = if shots == Shots::One { count } else { count.div_ceil(u64::from(self.ranks)) };
        let grid = Grid { blocks: [blocks(each), 1, 1], threads: 512, shared: 0 };
        let args = [
            Arg::Wide(self.table.at()),
            Arg::Wide(self.out.at()),
            Arg::Wide(self.counter.at()),
            Arg::Word(self.rank),
            Arg::Wide(count),
        ];
        self.kernel(gpu, shots)?.launch(on, grid, &args)
    }

    /// The kernel, loaded: to be asked for before any rank runs.
    pub(super) fn kernel(&self, gpu: &Gpu, shots: Shots) -> Result<Kernel, Failure> {
        let name = if shots == Shots::One { "one_shot" } else { "two_shot" };
        gpu.kernel(&format!("{name}_{}", self.ranks), 0)
    }
}

/// Blocks for so many pieces of 16 bytes: at most 36, as servers use, all of which fit on a GPU at once.
fn blocks(pieces: u64) -> u32 {
    pieces.div_ceil(512).clamp(1, 36) as u32
}

#[cfg(test)]
mod tests {
    use super::blocks;

    #[test]
    fn blocks_have_flags() {
        assert_eq!([1, 512, 513, 1 << 30].map(blocks), [1, 1, 2, 36]);
    }
}

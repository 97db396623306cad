//! nccl-tests: what `all_reduce_perf` and its siblings print, and the JSON of `-J`.
//!
//! Sources: NVIDIA/nccl-tests v2.19.6 @a0b82b2 `src/common.cu`, `src/util.cu`; older layouts as met in public files.
//! Times are wall time over iterations, back to back, so the host hides behind the GPU: device time. Read are tables of
//! 13 columns (`root`, `#wrong`), of 12 (no `root`, `error`) and with the extra columns of `-I`, `-S` and `-C 1`; several
//! tables in a file; lines of NCCL_DEBUG, MPI prefixes and tuning traces among the rows; rows that such a line breaks in
//! two. Omitted: the statistics of `-I`, CSV output of old versions.

mod header;
mod json;
mod names;
mod row;
mod table;
mod text;

use std::io::BufRead;

use super::{Head, Importer, Sink, Summary};

/// The importer.
pub(super) const IMPORTER: Importer = Importer {
    kind: "nccl-tests",
    about: "tables of nccl-tests (all_reduce_perf and its siblings), or its JSON",
    claim: |head: &Head| {
        head.sure_if(&["# nThread", "# nccl-tests version", "algbw", "\"aggregated_iterations\""])
    },
    read,
};

fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Summary {
    if super::json::begins_with_object(input) { json::read(input, sink) } else { text::read(input, sink) }
}

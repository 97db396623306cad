//! nccl-tests, as it prints.

use super::lines::{Seen, each_line};
use super::{Importer, Observation, Sink, Summary, What};

/// The importer.
pub(super) const TEXT: Importer = Importer {
    kind: "nccl-tests",
    about: "tables of nccl-tests (all_reduce_perf and its siblings)",
    claim: |head| head.sure_if(&["# nThread", "algbw", "# nccl-tests version"]),
    read,
};

fn read(input: &mut dyn std::io::BufRead, sink: &mut Sink) -> Summary {
    let mut summary = Summary::default();
    each_line(input, &mut summary, |_, line| {
        let Some(version) = line.text.trim().strip_prefix("NCCL version ") else { return Seen::Other };
        sink(Observation::at(line.number, What::Fact { name: "nccl", value: version.to_owned() }));
        Seen::Read
    });
    summary
}

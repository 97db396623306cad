//! How the GPUs of a box are joined: `nvidia-smi topo -m`, `nvidia-smi topo -p2p ...`, p2pBandwidthLatencyTest.
//!
//! Sources: NVIDIA/cuda-samples `Samples/5_Domain_Specific/p2pBandwidthLatencyTest`; the legend that nvidia-smi prints.
//! All are matrices over the GPUs; they may stand in one file or in several. Omitted: rows of network cards.

mod matrix;

use std::io::BufRead;

use serde::Serialize;

use super::lines::{Line, Seen, each_line};
use super::{Claim, Head, Importer, Observation, Sink, Summary, What};
use matrix::{Open, Title};

/// The importer.
pub(super) const IMPORTER: Importer = Importer {
    kind: "topology",
    about: "nvidia-smi topo -m or p2pBandwidthLatencyTest, into a box file",
    claim,
    read,
};

/// The most GPUs of a host.
const MOST_GPUS: usize = 64;

/// One matrix over the GPUs of a box.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeerMatrix {
    /// `PIX`, `PXB`, `PHB`, `NODE`, `SYS`, `NV12`, or `X` on the diagonal.
    Paths {
        /// A word for each pair.
        words: Vec<Vec<String>>,
        /// NUMA node of each GPU, where it is told.
        numa: Vec<Option<u32>>,
    },
    /// Whether each GPU can reach each other one.
    Access {
        /// True where it can; true on the diagonal.
        can: Vec<Vec<bool>>,
    },
    /// Bandwidth of copies \[GB/s\].
    Bandwidth {
        /// Both directions at once.
        bidirectional: bool,
        /// Whether peers were reached directly.
        p2p: bool,
        /// Reads instead of writes.
        reads: bool,
        /// A figure for each pair.
        gb_s: Vec<Vec<f64>>,
    },
    /// Latency of small writes \[µs\].
    Latency {
        /// Whether peers were reached directly.
        p2p: bool,
        /// As the host sees it; else as the GPU does.
        host: bool,
        /// A figure for each pair.
        us: Vec<Vec<f64>>,
    },
}

fn claim(head: &Head) -> Claim {
    let words = [
        "P2P Connectivity Matrix",
        "GPU Bandwidth Latency Test",
        "CPU Affinity",
        "P2P=Disabled Bandwidth Matrix",
    ];
    if head.sure_if(&words) == Claim::Sure {
        return Claim::Sure;
    }
    if head.text.contains("GPU0") && head.text.contains("GPU1") && head.text.contains(" X ") {
        Claim::Maybe
    } else {
        Claim::No
    }
}

fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Summary {
    let mut summary = Summary::default();
    let mut reader = Reader::default();
    each_line(input, &mut summary, |summary, line| reader.line(line, summary, sink));
    reader.close(&mut summary, sink);
    summary
}

#[derive(Default)]
struct Reader {
    title: Option<Title>,
    open: Option<Open>,
}

impl Reader {
    fn line(&mut self, line: &Line, summary: &mut Summary, sink: &mut Sink) -> Seen {
        let text = without_escapes(line.text);
        let words: Vec<&str> = text.split_whitespace().collect();
        if let Some(open) = &mut self.open
            && let Some(taken) = open.row(&words)
        {
            return match taken {
                Ok(()) => Seen::Read,
                Err(why) => Seen::Skipped(why),
            };
        }
        if let Some(device) = text.strip_prefix("Device: ") {
            // `0, NVIDIA GeForce RTX 4090, pciBusID: 2, ...`
            if let Some(name) = device.split(", ").nth(1) {
                sink(Observation::at(line.number, What::Gpu(name.trim().to_owned())));
                return Seen::Read;
            }
        }
        if let Some(title) = Title::of(&text) {
            self.close(summary, sink);
            self.title = Some(title);
            return Seen::Other;
        }
        if let Some(open) = Open::begins(&words, self.title, line.number) {
            self.close(summary, sink);
            if open.size() > MOST_GPUS {
                return Seen::Skipped(format!("a matrix over {} GPUs", open.size()));
            }
            self.open = Some(open);
        } else if words.is_empty() {
            self.close(summary, sink);
        }
        Seen::Other
    }

    /// Hands a matrix on that is whole.
    fn close(&mut self, summary: &mut Summary, sink: &mut Sink) {
        let Some(open) = self.open.take() else { return };
        let line = open.line();
        match open.finish() {
            Ok(Some(matrix)) => {
                for why in one_sided(&matrix) {
                    summary.warn("one-sided", line, &why, "");
                }
                sink(Observation::at(line, What::Peers(Box::new(matrix))));
            }
            Ok(None) => {}
            Err(why) => summary.skipped.note(line, &why, ""),
        }
    }
}

/// Pairs whose two directions are told as different paths: what joins two GPUs is one thing.
pub fn one_sided(matrix: &PeerMatrix) -> Vec<String> {
    let PeerMatrix::Paths { words, .. } = matrix else { return Vec::new() };
    let pairs = (0..words.len()).flat_map(|a| (a + 1..words.len()).map(move |b| (a, b)));
    let differ = pairs.filter(|(a, b)| words[*a][*b] != words[*b][*a]);
    differ
        .map(|(a, b)| format!("GPU{a} to GPU{b} is {} and GPU{b} to GPU{a} is {}", words[a][b], words[b][a]))
        .collect()
}

/// The line without the escapes that underline headers on a terminal.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            let _ = chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests;

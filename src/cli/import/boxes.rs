//! How GPUs are joined: a table of paths with their figures, and a box file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::fabric::{self, Fabric};
use super::section::{Section, Table};
use super::{calibration::quoted, gpu_name};
use crate::cli::args::ImportArgs;
use crate::hardware::{self, Hardware, gpu_preset};
use crate::import::{Observation, PeerMatrix, What, one_sided};
use crate::units::significant;

/// The word of each pair, and the NUMA node of each GPU.
type Paths<'a> = (&'a [Vec<String>], &'a [Option<u32>]);

/// Matrices of all files.
pub(super) struct Boxes {
    said_gpu: Option<String>,
    gpus: Vec<String>,
    found: Vec<PeerMatrix>,
}

impl Boxes {
    /// None yet.
    pub(super) fn new(args: &ImportArgs) -> Self {
        Self { said_gpu: args.gpu.clone(), gpus: Vec::new(), found: Vec::new() }
    }

    fn paths(&self) -> Option<Paths<'_>> {
        self.found.iter().find_map(|matrix| match matrix {
            PeerMatrix::Paths { words, numa } => Some((&words[..], &numa[..])),
            _ => None,
        })
    }

    /// Whether peers reach one another; none where it is not told.
    fn access(&self) -> Option<Access> {
        let can = self.found.iter().find_map(|matrix| match matrix {
            PeerMatrix::Access { can } => Some(can),
            _ => None,
        })?;
        let pairs: Vec<bool> = off_diagonal(can).map(|(_, _, can)| *can).collect();
        Some(match (pairs.iter().all(|can| *can), pairs.iter().any(|can| *can)) {
            (true, _) => Access::All,
            (_, true) => Access::Some,
            _ => Access::None,
        })
    }

    /// GPUs of the box.
    fn count(&self) -> usize {
        self.found.iter().map(size).max().unwrap_or(self.gpus.len())
    }

    fn gpu(&self) -> Result<String, String> {
        if let Some(name) = &self.said_gpu {
            let of_box = || hardware::preset(name).map(|found| found.gpu);
            return gpu_preset(name).or_else(of_box).map(|gpu| gpu.name).ok_or_else(|| {
                format!("--gpu {name}: no GPU preset; `specplan explain presets` lists them")
            });
        }
        let mut names: Vec<&String> = self.gpus.iter().collect();
        names.sort();
        names.dedup();
        match names[..] {
            [] => Err(self.which_gpu()),
            [name] => gpu_name::preset_of(name)
                .map(|gpu| gpu.name)
                .ok_or_else(|| format!("`{name}` is no preset: say which is nearest with --gpu")),
            _ => {
                let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
                Err(format!("a box file holds one kind of GPU, not {}", names.join(", ")))
            }
        }
    }
}

impl Boxes {
    /// That the card is not told, with the presets of as many GPUs: first those over as many sockets.
    fn which_gpu(&self) -> String {
        let sockets = self.paths().map(|(words, numa)| fabric::of(words, numa).sockets);
        let boxes = hardware::preset_entries().iter().filter_map(|entry| hardware::preset(&entry.name));
        let nvlink = self.paths().map(|(words, _)| words.iter().flatten().any(|word| word.starts_with("NV")));
        let linked = |found: &Hardware| found.topology.ring(found.count).is_some_and(|ring| ring.nvlink);
        let alike = boxes
            .filter(|found| found.count as usize == self.count())
            .filter(|found| nvlink.is_none_or(|nvlink| nvlink == linked(found)));
        let mut alike: Vec<(bool, String, String)> = alike
            .map(|found| {
                let other = sockets.is_some_and(|sockets| sockets != found.topology.sockets_in_use());
                (other, found.name, found.gpu.name)
            })
            .collect();
        alike.sort();
        let nearest = alike.first().cloned();
        let Some((_, _, gpu)) = nearest else {
            return "the files do not name the GPU: say it with --gpu, as in --gpu rtx-4090".to_owned();
        };
        let same: Vec<&str> =
            alike.iter().filter(|(other, ..)| !other).map(|(_, name, _)| name.as_str()).collect();
        let like = if same.is_empty() {
            format!("no preset has {} GPUs over as many sockets", self.count())
        } else {
            format!("presets with as many GPUs and sockets are {}", same.join(", "))
        };
        format!("the files do not name the GPU: say it with --gpu, as in --gpu {gpu}; {like}")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    All,
    Some,
    None,
}

fn size(matrix: &PeerMatrix) -> usize {
    match matrix {
        PeerMatrix::Paths { words, .. } => words.len(),
        PeerMatrix::Access { can } => can.len(),
        PeerMatrix::Bandwidth { gb_s, .. } => gb_s.len(),
        PeerMatrix::Latency { us, .. } => us.len(),
    }
}

fn off_diagonal<T>(rows: &[Vec<T>]) -> impl Iterator<Item = (usize, usize, &T)> {
    rows.iter().enumerate().flat_map(|(i, row)| {
        row.iter().enumerate().filter(move |(j, _)| i != *j).map(move |(j, value)| (i, j, value))
    })
}

/// A figure for pairs, with the title of its column.
struct Figures<'a> {
    title: &'static str,
    rows: &'a [Vec<f64>],
}

impl Boxes {
    /// One-way copies and latencies, as columns.
    fn figures(&self) -> Vec<Figures<'_>> {
        let mut columns = Vec::new();
        for matrix in &self.found {
            let column = match matrix {
                PeerMatrix::Bandwidth { bidirectional: false, p2p, reads: false, gb_s } => {
                    Some((if *p2p { "P2P GB/s" } else { "host GB/s" }, gb_s))
                }
                PeerMatrix::Bandwidth { bidirectional: true, p2p: true, gb_s, .. } => {
                    Some(("both ways", gb_s))
                }
                PeerMatrix::Latency { p2p: true, host: false, us } => Some(("write us", us)),
                _ => None,
            };
            if let Some((title, rows)) = column {
                columns.push(Figures { title, rows });
            }
        }
        columns
    }

    /// Pairs by their word; one word for all where it is not told.
    fn by_path(&self) -> BTreeMap<String, Vec<(usize, usize)>> {
        let count = self.count();
        let mut groups: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
        for i in 0..count {
            for j in (0..count).filter(|j| i != *j) {
                let word = self.paths().and_then(|(words, _)| words.get(i)?.get(j).cloned());
                groups.entry(word.unwrap_or_else(|| "not told".to_owned())).or_default().push((i, j));
            }
        }
        groups
    }
}

/// `6.34` or `6.34-8.67`.
fn range(rows: &[Vec<f64>], pairs: &[(usize, usize)]) -> String {
    let found: Vec<f64> = pairs.iter().filter_map(|(i, j)| rows.get(*i)?.get(*j).copied()).collect();
    let low = found.iter().copied().fold(f64::INFINITY, f64::min);
    let high = found.iter().copied().fold(0.0, f64::max);
    match (found.is_empty(), significant(low, 3), significant(high, 3)) {
        (true, ..) => "-".to_owned(),
        (_, low, high) if low == high => low,
        (_, low, high) => format!("{low}-{high}"),
    }
}

impl Section for Boxes {
    fn take(&mut self, observation: &Observation) {
        match &observation.what {
            What::Gpu(name) => self.gpus.push(name.clone()),
            What::Peers(matrix) => self.found.push((**matrix).clone()),
            _ => {}
        }
    }

    fn is_empty(&self) -> bool {
        self.found.is_empty() && self.gpus.is_empty()
    }

    fn text(&self, out: &mut String) {
        let name = self.gpus.first().map_or("GPUs", String::as_str);
        let access = match self.access() {
            Some(Access::All) => ", all reach one another (P2P)",
            Some(Access::Some) => ", only some reach one another (P2P)",
            Some(Access::None) => ", none reaches another (no P2P)",
            None => "",
        };
        let _ = writeln!(out, "{} x {name}{access}", self.count());
        let figures = self.figures();
        let _ = write!(out, "  {:<9} {:>5}", "path", "pairs");
        for column in &figures {
            let _ = write!(out, " {:>12}", column.title);
        }
        out.push('\n');
        for (word, pairs) in self.by_path() {
            let _ = write!(out, "  {word:<9} {:>5}", pairs.len() / 2);
            for column in &figures {
                let _ = write!(out, " {:>12}", range(column.rows, &pairs));
            }
            out.push('\n');
        }
    }

    fn json(&self, object: &mut Map<String, Value>) {
        object.insert("gpus".to_owned(), json!(self.gpus));
        object.insert("count".to_owned(), json!(self.count()));
        object.insert("matrices".to_owned(), json!(self.found));
    }

    fn table(&self) -> Option<Table> {
        let figures = self.figures();
        let mut header = vec!["from", "to", "path"];
        header.extend(figures.iter().map(|column| column.title));
        let mut rows = Vec::new();
        for (word, pairs) in self.by_path() {
            for (i, j) in pairs {
                let mut row = vec![i.to_string(), j.to_string(), word.clone()];
                row.extend(figures.iter().map(|column| {
                    column.rows.get(i).and_then(|row| row.get(j)).map_or(String::new(), f64::to_string)
                }));
                rows.push(row);
            }
        }
        Some(Table { header, rows })
    }

    fn yaml(&self) -> Option<Result<String, String>> {
        Some(self.box_file())
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some((words, numa)) = self.paths() {
            let fabric = fabric::of(words, numa);
            let nvlink = words.iter().flatten().any(|word| word.starts_with("NV"));
            let bare = self.gpu().ok().and_then(|name| gpu_preset(&name)).filter(|gpu| gpu.nvlink.is_none());
            if let Some(gpu) = bare.filter(|_| nvlink) {
                notes.push(format!("the matrix tells NVLink, and {} has none", gpu.name));
            }
            if fabric.sockets > 1 {
                notes.push(
                    "each NUMA node counts as a socket: nvidia-smi does not tell them apart".to_owned(),
                );
            }
            if let Some(note) = reordered(&fabric) {
                notes.push(note);
            }
        } else {
            notes.push("no paths: nvidia-smi topo -m tells the topology, which is left unknown".to_owned());
        }
        if self.found.iter().any(|matrix| size(matrix) != self.count()) {
            notes.push("these files are of boxes with different numbers of GPUs".to_owned());
        }
        if self.access() == Some(Access::Some) {
            notes.push("only some pairs reach one another: the box file says p2p: false".to_owned());
        }
        notes
    }
}

fn reordered(fabric: &Fabric) -> Option<String> {
    if fabric.order.is_sorted() {
        return None;
    }
    let order: Vec<String> = fabric.order.iter().map(usize::to_string).collect();
    Some(format!("ranks of the box file stand for GPUs {}: set CUDA_VISIBLE_DEVICES alike", order.join(",")))
}

impl Boxes {
    fn box_file(&self) -> Result<String, String> {
        let count = self.count();
        if self.found.iter().any(|matrix| size(matrix) != count) {
            return Err(
                "matrices over different numbers of GPUs: these files are of several boxes".to_owned()
            );
        }
        if let Some(why) = self.found.iter().flat_map(one_sided).next() {
            return Err(format!("{why}: a path is one thing in both directions"));
        }
        let mut out = format!("# Imported by specplan {}.\n", env!("CARGO_PKG_VERSION"));
        let _ = writeln!(out, "gpu: {}\ncount: {count}", self.gpu()?);
        if let Some(access) = self.access() {
            let _ = writeln!(out, "p2p: {}", access == Access::All);
        }
        if let Some((words, numa)) = self.paths() {
            out.push_str("topology:\n");
            out.push_str(&fabric::of(words, numa).yaml);
        }
        let notes = self.notes();
        if !notes.is_empty() {
            out.push_str("notes:\n");
            for note in &notes {
                let _ = writeln!(out, "  - {}", quoted(note));
            }
        }
        out.push_str("source: imported from nvidia-smi topo -m or p2pBandwidthLatencyTest\n");
        Ok(out)
    }
}

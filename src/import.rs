//! Foreign files as streams of observations: what benchmarks, servers and profilers already wrote.
//!
//! ```text
//!  file ─► input (gzip, UTF-16) ─► guess (head) ─► an importer ─► Observation, Observation, ... ─► Summary
//! ```
//!
//! Every importer is one file here and one row of [`IMPORTERS`]. It reads a stream once, in bounded memory, hands on what
//! the file says with the number of its line, and never guesses: what it cannot read is counted and shown. Turning
//! observations into calibrations, acceptance fits or scenarios is the command line's work.

mod benchmark;
mod command_line;
mod hf_config;
mod input;
mod json;
mod lines;
mod nccl_tests;
mod observation;
pub mod serving;
mod summary;
mod topology;
mod trace;

use std::fmt;
use std::io::{self, BufRead};

pub use benchmark::Benchmark;
pub use command_line::{Drafting, ServerCommand, Unread};
pub use input::{Input, open};
pub use observation::{Collective, CollectiveRun, Observation, What};
pub use summary::{Noted, Notice, Summary};
pub use topology::{PeerMatrix, one_sided};
pub use trace::{TraceEvent, WorkClass};

/// Every importer. A row per kind; of two that claim a file with equal confidence, the upper one gets it.
pub const IMPORTERS: &[&Importer] = &[
    &nccl_tests::IMPORTER,
    &serving::SGLANG,
    &serving::VLLM,
    &serving::LLAMA_CPP,
    &serving::DUMPS,
    &serving::ITERATIONS,
    &serving::RESPONSES,
    &command_line::IMPORTER,
    &topology::IMPORTER,
    &benchmark::SGLANG,
    &benchmark::VLLM,
    &benchmark::SPECFORGE,
    &trace::IMPORTER,
    &hf_config::IMPORTER,
];

/// Where observations go.
pub type Sink<'a> = dyn FnMut(Observation) + 'a;

/// A reader of one kind of file.
pub struct Importer {
    /// The word for it on the command line and in JSON.
    pub kind: &'static str,
    /// What it reads, in a few words.
    pub about: &'static str,
    /// How sure it is that a file that begins so is its own.
    pub claim: fn(&Head) -> Claim,
    /// Reads a stream to its end.
    pub read: fn(&mut dyn BufRead, &mut Sink) -> Summary,
}

/// How sure an importer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// Not its own.
    No,
    /// Could be its own: weak signs that others may share.
    Maybe,
    /// Its own: a line or key that no other format has.
    Sure,
}

/// How a file begins: up to [`Head::MOST`] bytes, unpacked, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The text; bytes that are none are replaced.
    pub text: String,
}

impl Head {
    /// The longest head \[B\]: servers write their settings and the loading of a model before the first figure.
    pub const MOST: usize = 4 << 20;

    /// Whether a word stands in it.
    pub fn has(&self, word: &str) -> bool {
        self.text.contains(word)
    }

    /// The claim of an importer that knows its files by certain words.
    pub fn sure_if(&self, words: &[&str]) -> Claim {
        if words.iter().any(|word| self.has(word)) { Claim::Sure } else { Claim::No }
    }
}

/// A kind of file: the importer that reads it.
#[derive(Clone, Copy)]
pub struct Kind(&'static Importer);

impl Kind {
    /// All kinds, in the order of [`IMPORTERS`].
    pub fn all() -> impl Iterator<Item = Self> {
        IMPORTERS.iter().copied().map(Self)
    }

    /// The kind of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::all().find(|kind| kind.word() == word)
    }

    /// Another kind that is sure of a file of which this one is not.
    pub fn disputed(self, head: &Head) -> Option<Self> {
        let other = Self::all().find(|kind| (kind.0.claim)(head) == Claim::Sure)?;
        ((self.0.claim)(head) != Claim::Sure && self.0.kind != other.0.kind).then_some(other)
    }

    /// The kind of a file that begins so; none where no importer claims it.
    pub fn guess(head: &Head) -> Option<Self> {
        let mut best: Option<(Claim, Self)> = None;
        for kind in Self::all() {
            let claim = (kind.0.claim)(head);
            if claim > best.map_or(Claim::No, |(claim, _)| claim) {
                best = Some((claim, kind));
            }
        }
        best.map(|(_, kind)| kind)
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        self.0.kind
    }

    /// What it is, in a few words.
    pub fn about(self) -> &'static str {
        self.0.about
    }

    /// Reads a stream to its end and hands every observation on, in the order of the file.
    pub fn read(self, mut input: impl BufRead, sink: &mut impl FnMut(Observation)) -> Summary {
        (self.0.read)(&mut input, sink)
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.word() == other.word()
    }
}

impl Eq for Kind {}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kind({})", self.word())
    }
}

/// A stream with its kind, ready to be read.
///
/// # Errors
/// The first bytes cannot be read, or no importer knows them ([`io::ErrorKind::InvalidData`]).
pub fn guess(input: &mut Input) -> io::Result<Kind> {
    let head = input.head()?;
    Kind::guess(&head).ok_or_else(|| {
        let tried: Vec<&str> = Kind::all().map(Kind::word).collect();
        let why = format!("no kind of file that is known begins so; tried {}", tried.join(", "));
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}

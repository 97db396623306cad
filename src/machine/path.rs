//! The critical path of a pass: which chain of work set its end.
//!
//! Every rank carries the path to its stream's present: a host's issue (or launch) from the start of the pass up to
//! some place, then kernels and collectives. It changes where a kernel starts because its host issued it late, and
//! all ranks of a collective take over the path of the last that arrived. So the path at the end of the pass is known
//! without keeping any event.

use std::fmt;

use crate::units::Seconds;

/// What the path starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The launch of a CUDA graph.
    Launch,
    /// Issue operation by operation.
    Issue,
}

/// Where in a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before the first operation.
    Start,
    /// In a numbered layer, counted from 1.
    Layer(u32),
    /// In a block that is no layer.
    Block(&'static str),
}

/// The chain that set the end of a pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CriticalPath {
    /// Whose host it starts with.
    pub rank: u32,
    /// What that host did.
    pub origin: Origin,
    /// The last place at which a stream waited for that host.
    pub until: Place,
    /// Layers of the pass.
    pub layers: u32,
    /// Time on the host.
    pub host: Seconds,
    /// Then kernels.
    pub kernels: Seconds,
    /// And collectives, from their last arrivals.
    pub collectives: Seconds,
}

impl fmt::Display for CriticalPath {
    /// "rank 3's host issue, layers 1 to 58 of 61 (28.1 ms), then kernels 0.7 ms and collectives 0.2 ms".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.origin {
            Origin::Launch => write!(f, "rank {}'s graph launch ({})", self.rank, self.host)?,
            Origin::Issue => {
                write!(f, "rank {}'s host issue, ", self.rank)?;
                match self.until {
                    Place::Start => write!(f, "the first operation")?,
                    Place::Layer(1) => write!(f, "layer 1 of {}", self.layers)?,
                    Place::Layer(n) => write!(f, "layers 1 to {n} of {}", self.layers)?,
                    Place::Block(name) => write!(f, "from the start into the {name}")?,
                }
                write!(f, " ({})", self.host)?;
            }
        }
        write!(f, ", then kernels {} and collectives {}", self.kernels, self.collectives)
    }
}

/// The path of one stream, in picoseconds since the pass began on `rank`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Trail {
    pub(super) rank: u32,
    /// Entry of the sequence and repetition, or none before the first wait.
    pub(super) place: Option<(u32, u32)>,
    pub(super) host: u64,
    pub(super) kernels: u64,
    pub(super) collectives: u64,
}

impl Trail {
    /// At the start of a pass.
    pub(super) const fn start(rank: u32) -> Self {
        Self { rank, place: None, host: 0, kernels: 0, collectives: 0 }
    }

    /// The stream waited for the host until `host` \[ps\] after the start.
    #[inline]
    pub(super) const fn late(&mut self, rank: u32, place: (u32, u32), host: u64) {
        *self = Self { rank, place: Some(place), host, kernels: 0, collectives: 0 };
    }
}

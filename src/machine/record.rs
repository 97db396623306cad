//! What a run can be watched with; watching nothing costs nothing.

/// A row of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Track {
    /// The issuing thread of a rank.
    Host(u32),
    /// The stream of a rank.
    Stream(u32),
    /// One direction of a link, by its index among the resources; without links, the whole fabric is number 0.
    Link(u32),
}

/// Receives what happens.
pub(super) trait Recorder {
    /// Whether anything is kept; if not, operations may be folded.
    const ON: bool;
    /// Something that took from `start` to `end` \[ps\].
    fn span(&mut self, track: Track, name: &'static str, start: u64, end: u64);
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nothing;

impl Recorder for Nothing {
    const ON: bool = false;
    #[inline]
    fn span(&mut self, _: Track, _: &'static str, _: u64, _: u64) {}
}

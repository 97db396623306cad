//! Queue, running requests and KV blocks over time: exact integrals, and means over at most 512 equal spans.

use crate::des::SimTime;

/// Spans at most.
const MOST: usize = 512;

/// First width of a span: 2^30 ps, about 1 ms. Widths are powers of two, so that finding a span is a shift and
/// timelines of different length can be added.
const FIRST_SHIFT: u32 = 30;

/// Integrals over time \[ps\] of what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Load {
    /// Of waiting requests.
    pub(super) waiting: u128,
    /// Of running requests.
    pub(super) running: u128,
    /// Of KV blocks in use.
    pub(super) blocks: u128,
}

impl Load {
    fn add(&mut self, other: Self) {
        self.waiting += other.waiting;
        self.running += other.running;
        self.blocks += other.blocks;
    }
}

/// What a replica holds at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Level {
    pub(super) waiting: u32,
    pub(super) running: u32,
    pub(super) blocks: u32,
}

impl Level {
    const fn over(self, ps: u64) -> Load {
        let ps = ps as u128;
        Load {
            waiting: ps * self.waiting as u128,
            running: ps * self.running as u128,
            blocks: ps * self.blocks as u128,
        }
    }
}

/// The spans, and the whole.
#[derive(Debug, Clone)]
pub(super) struct Timeline {
    shift: u32,
    spans: Vec<Load>,
    total: Load,
}

impl Timeline {
    pub(super) const fn new() -> Self {
        Self { shift: FIRST_SHIFT, spans: Vec::new(), total: Load { waiting: 0, running: 0, blocks: 0 } }
    }

    /// Adds a level that held from one time to another.
    #[inline]
    pub(super) fn add(&mut self, from: SimTime, to: SimTime, level: Level) {
        if from == to || level == Level::default() {
            return;
        }
        let (mut from, to) = (from.ps(), to.ps());
        self.total.add(level.over(to - from));
        self.reach((to - 1) >> self.shift);
        while from < to {
            let span = from >> self.shift;
            let end = to.min((span + 1) << self.shift);
            self.spans[span as usize].add(level.over(end - from));
            from = end;
        }
    }

    /// Makes room for a span, by joining neighbours if need be.
    #[inline]
    fn reach(&mut self, mut span: u64) {
        if span < self.spans.len() as u64 {
            return;
        }
        while span >= MOST as u64 {
            self.coarsen();
            span >>= 1;
        }
        self.spans.resize(self.spans.len().max(span as usize + 1), Load::default());
    }

    fn coarsen(&mut self) {
        let half = self.spans.len().div_ceil(2);
        for i in 0..half {
            let mut joined = self.spans[2 * i];
            if let Some(next) = self.spans.get(2 * i + 1) {
                joined.add(*next);
            }
            self.spans[i] = joined;
        }
        self.spans.truncate(half);
        self.shift += 1;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        while other.shift < self.shift {
            other.coarsen();
        }
        while self.shift < other.shift {
            self.coarsen();
        }
        self.spans.resize(self.spans.len().max(other.spans.len()), Load::default());
        self.spans.iter_mut().zip(&other.spans).for_each(|(mine, theirs)| mine.add(*theirs));
        self.total.add(other.total);
    }

    /// The integrals over all time.
    pub(super) const fn total(&self) -> Load {
        self.total
    }

    /// Start, end and integrals of each span up to `end`.
    pub(super) fn spans(&self, end: SimTime) -> impl Iterator<Item = (SimTime, SimTime, Load)> {
        let shift = self.shift;
        self.spans.iter().zip(0_u64..).map(move |(load, i)| {
            let (from, to) = (i << shift, ((i + 1) << shift).min(end.ps()));
            (SimTime::from_ps(from), SimTime::from_ps(to), *load)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn level(waiting: u32) -> Level {
        Level { waiting, running: 1, blocks: 2 * waiting }
    }

    proptest! {
        #[test]
        fn integrals_are_exact_in_parts_and_together(
            pieces in prop::collection::vec((1_u64..1 << 42, 0_u32..9, any::<bool>()), 1..60)
        ) {
            let (mut one, mut a, mut b) = (Timeline::new(), Timeline::new(), Timeline::new());
            let (mut now, mut expected) = (0, 0_u128);
            for (length, waiting, left) in pieces {
                let (from, to) = (SimTime::from_ps(now), SimTime::from_ps(now + length));
                now += length;
                expected += u128::from(length) * u128::from(waiting);
                one.add(from, to, level(waiting));
                if left { &mut a } else { &mut b }.add(from, to, level(waiting));
            }
            a.merge(&b);
            prop_assert_eq!(one.total().waiting, expected);
            prop_assert_eq!(one.spans(SimTime::from_ps(now)).map(|s| s.2.waiting).sum::<u128>(), expected);
            prop_assert!(one.spans.len() <= MOST);
            prop_assert!(one.spans(SimTime::from_ps(now)).eq(a.spans(SimTime::from_ps(now))));
        }
    }
}

//! Device times of chains in graphs, and how operands rotate so that L2 holds none of them.

use super::super::ffi::{Event, Graph};
use super::super::{Check, Failure, Measured, Request};
use super::device::Gpu;
use crate::units::Seconds;

/// What a request says about samples.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    /// Samples wanted.
    pub(super) repeats: u32,
    /// Time that measuring may take, a third of the parent's limit.
    pub(super) budget: Seconds,
}

impl Asked {
    /// Of a request.
    pub(super) fn of(request: &Request) -> Self {
        Self { repeats: request.repeats.max(1), budget: Seconds::from_ms(request.limit_ms as f64 / 3.0) }
    }

    /// Samples that fit, if one takes so long: at least three.
    pub(super) fn samples(self, one: Seconds) -> u32 {
        let fit = (self.budget.us() / one.us().max(1e-3)).min(1e6) as u32;
        self.repeats.min(fit.max(3))
    }
}

/// A result, with the samples.
pub(super) fn measured(samples_us: Vec<f64>, check: Check, notes: Vec<String>) -> Measured {
    Measured { samples_us, check, notes }
}

/// Sets of operands that a chain goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rotation {
    /// How many.
    pub(super) copies: u32,
    /// Whether they fit into twice L2 even so: L2 is then flushed before each chain, and no set is used twice in one.
    pub(super) flush: bool,
}

impl Rotation {
    /// For operands of so many bytes that are read once a run.
    pub(super) fn over(bytes: u64, l2: u64) -> Self {
        const MOST: u64 = 128;
        let wanted = (2 * l2).div_ceil(bytes.max(1)) + 1;
        Self { copies: wanted.min(MOST) as u32, flush: wanted > MOST }
    }

    /// For operands that a pass finds in L2 as well.
    pub(super) const fn none() -> Self {
        Self { copies: 1, flush: false }
    }

    /// Length of a chain of operations of this duration: about 2 ms, and once round.
    fn chain(self, one: Seconds) -> u32 {
        let long = (2000.0 / one.us().max(0.1)).ceil().clamp(1.0, 400.0) as u32;
        if self.flush { self.copies } else { long.max(self.copies) }
    }
}

/// Samples \[µs\] of one operation: event to event around a graph of a chain of it, divided by its length. `issue` queues
/// the operation on set `index % copies`.
pub(super) fn chain_samples(
    gpu: &Gpu,
    asked: Asked,
    rotation: Rotation,
    mut issue: impl FnMut(u32) -> Result<(), Failure>,
) -> Result<Vec<f64>, Failure> {
    let event = || Event::new(&gpu.context);
    let (start, end) = (event()?, event()?);
    for index in 0..2 {
        issue(index % rotation.copies)?;
    }
    gpu.stream.synchronise()?;
    start.record(&gpu.stream)?;
    for index in 0..3 {
        issue(index % rotation.copies)?;
    }
    end.record(&gpu.stream)?;
    gpu.stream.synchronise()?;
    let length = rotation.chain(Seconds::from_us(start.until(&end)? / 3.0));
    let graph =
        Graph::capture(&gpu.stream, || (0..length).try_for_each(|index| issue(index % rotation.copies)))?;
    graph.upload(&gpu.stream)?;
    graph.launch(&gpu.stream)?;
    start.record(&gpu.stream)?;
    graph.launch(&gpu.stream)?;
    end.record(&gpu.stream)?;
    gpu.stream.synchronise()?;
    let samples = asked.samples(Seconds::from_us(start.until(&end)?));
    let events: Vec<_> = (0..samples).map(|_| Ok((event()?, event()?))).collect::<Result<_, Failure>>()?;
    for (start, end) in &events {
        if rotation.flush {
            gpu.flush()?;
        }
        start.record(&gpu.stream)?;
        graph.launch(&gpu.stream)?;
        end.record(&gpu.stream)?;
    }
    gpu.stream.synchronise()?;
    events.iter().map(|(start, end)| Ok(start.until(end)? / f64::from(length))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_is_larger_than_twice_l2_or_flushes_it() {
        let l2 = 60 << 20;
        for bytes in [1, 4096, 1 << 20, 2 << 20, 60 << 20, 1 << 30] {
            let rotation = Rotation::over(bytes, l2);
            assert!(rotation.flush || u64::from(rotation.copies) * bytes > 2 * l2, "{bytes}: {rotation:?}");
            assert!(rotation.copies >= 2 && rotation.copies <= 128);
        }
        assert_eq!(Rotation::over(1 << 30, l2), Rotation { copies: 2, flush: false });
    }

    #[test]
    fn no_set_is_read_again_before_the_others() {
        let flushed = Rotation { copies: 128, flush: true };
        assert_eq!(flushed.chain(Seconds::from_us(0.5)), 128);
        assert_eq!(Rotation { copies: 20, flush: false }.chain(Seconds::from_us(1e4)), 20);
        assert_eq!(Rotation { copies: 20, flush: false }.chain(Seconds::from_us(20.0)), 100);
        assert_eq!(Rotation::none().chain(Seconds::from_us(0.001)), 400);
    }

    #[test]
    fn samples_fit_the_budget_but_are_at_least_three() {
        let asked = Asked { repeats: 30, budget: Seconds::from_us(1e6) };
        assert_eq!([1.0, 1e5, 1e7].map(|us| asked.samples(Seconds::from_us(us))), [30, 10, 3]);
    }
}

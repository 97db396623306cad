//! Accept lengths over time, in at most 64 windows of equally many intervals.

use super::interval::DecodeInterval;
use crate::units::Seconds;

/// Windows at most.
const MOST: usize = 64;

/// A stretch of intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Its first line.
    pub from: u64,
    /// Its last line.
    pub to: u64,
    /// Clock of the first line.
    pub clock: Option<Seconds>,
    /// Intervals.
    pub intervals: u64,
    cycles: f64,
    tokens: f64,
}

impl Window {
    /// Mean accept length, weighted by cycles.
    pub fn accept_length(&self) -> f64 {
        self.tokens / self.cycles
    }
}

/// The windows in the order of lines. Their size doubles whenever there are more than 64.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    windows: Vec<Window>,
    each: u64,
}

impl Default for Timeline {
    fn default() -> Self {
        Self { windows: Vec::new(), each: 1 }
    }
}

impl Timeline {
    /// Takes an interval of so many cycles in.
    pub(super) fn add(&mut self, interval: &DecodeInterval, cycles: f64) {
        let Some(length) = interval.accept_length.filter(|_| cycles > 0.0) else { return };
        let window = Window {
            from: interval.line,
            to: interval.line,
            clock: interval.clock,
            intervals: 1,
            cycles,
            tokens: cycles * length.get(),
        };
        match self.windows.last_mut().filter(|last| last.intervals < self.each) {
            Some(last) => *last = joined(*last, window),
            None => self.windows.push(window),
        }
        if self.windows.len() > MOST {
            self.each *= 2;
            self.windows = self
                .windows
                .chunks(2)
                .map(|pair| pair[1..].iter().fold(pair[0], |first, second| joined(first, *second)))
                .collect();
        }
    }

    /// The windows.
    pub fn windows(&self) -> &[Window] {
        &self.windows
    }
}

fn joined(first: Window, second: Window) -> Window {
    Window {
        to: second.to,
        intervals: first.intervals + second.intervals,
        cycles: first.cycles + second.cycles,
        tokens: first.tokens + second.tokens,
        ..first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::serving::Server;
    use crate::units::AcceptLength;

    #[test]
    fn windows_stay_few_and_lose_nothing() {
        let mut timeline = Timeline::default();
        for line in 1..=1000 {
            let mut interval = DecodeInterval::new(Server::Sglang, line);
            interval.accept_length = Some(AcceptLength::new(if line <= 500 { 2.0 } else { 3.0 }));
            timeline.add(&interval, 40.0);
        }
        let windows = timeline.windows();
        assert!((32..=64).contains(&windows.len()));
        assert_eq!(windows.iter().map(|w| w.intervals).sum::<u64>(), 1000);
        assert!((windows[0].accept_length() - 2.0).abs() < 1e-12);
        assert!((windows[windows.len() - 1].accept_length() - 3.0).abs() < 1e-12);
        assert!(windows.windows(2).all(|pair| pair[0].to + 1 == pair[1].from));
    }
}

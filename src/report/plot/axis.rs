//! From values to pixels, and which values get a tick.

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Linear,
    Log,
}

/// One axis: a range of values on a range of pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Axis {
    scale: Scale,
    pub(super) low: f64,
    pub(super) high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// Equal steps; `from` and `to` are the pixels of `low` and `high`.
    pub(super) fn linear(low: f64, high: f64, from: f64, to: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { scale: Scale::Linear, low, high, from, to }
    }

    /// Equal ratios; `low` must be positive.
    pub(super) fn log(low: f64, high: f64, from: f64, to: f64) -> Self {
        let high = if high > low { high } else { low * 10.0 };
        Self { scale: Scale::Log, low, high, from, to }
    }

    /// The pixel of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln(),
        };
        self.from + share * (self.to - self.from)
    }

    /// Whether a value is within the range, its ends included.
    pub(super) fn holds(&self, value: f64) -> bool {
        let slack = 1e-9 * (self.high - self.low);
        value >= self.low - slack && value <= self.high + slack
    }

    /// Values to mark: about `wanted` round ones on a linear axis; 1, 2, 5 per decade (or the decades alone where
    /// that would be too many) on a logarithmic one.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<f64> {
        match self.scale {
            Scale::Linear => self.linear_ticks(wanted),
            Scale::Log => self.log_ticks(wanted),
        }
    }

    fn linear_ticks(&self, wanted: usize) -> Vec<f64> {
        let step = nice_step((self.high - self.low) / wanted.max(1) as f64);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|i| i as f64 * step).collect()
    }

    fn log_ticks(&self, wanted: usize) -> Vec<f64> {
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let with = |mantissas: &[f64]| -> Vec<f64> {
            let all = decades.clone().flat_map(|d| mantissas.iter().map(move |m| m * 10_f64.powi(d)));
            all.filter(|&v| self.holds(v)).collect()
        };
        let (all, thirds, tens) =
            (with(&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0]), with(&[1.0, 2.0, 5.0]), with(&[1.0]));
        [all, thirds].into_iter().find(|ticks| ticks.len() <= wanted).unwrap_or(tens)
    }
}

/// Powers of `base` within `low..=high`, as every `skip`-th that leaves at most `wanted`.
pub(super) fn powers(base: f64, low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let first = (low.ln() / base.ln() - 1e-9).ceil() as i32;
    let last = (high.ln() / base.ln() + 1e-9).floor() as i32;
    let skip = (f64::from(last - first) / wanted.max(1) as f64).floor() as i32 + 1;
    (first..=last)
        .filter(|exponent| exponent.rem_euclid(skip) == 0)
        .map(|exponent| base.powi(exponent))
        .collect()
}

/// 1, 2, 2.5 or 5 times a power of ten, not below `step`.
pub(super) fn nice_step(step: f64) -> f64 {
    let power = 10_f64.powi(step.log10().floor() as i32);
    let nice =
        [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|m| m * power >= step * (1.0 - 1e-9)).unwrap_or(10.0);
    nice * power
}

/// `value` rounded up to the next tick of an axis from zero with about `wanted` ticks.
pub(super) fn nice_ceiling(value: f64, wanted: usize) -> f64 {
    let step = nice_step(value / wanted.max(1) as f64);
    (value / step - 1e-9).ceil() * step
}

/// A tick's number with as many decimals as it needs, at most three, thousands separated.
pub(super) fn tick_text(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if value.abs() >= 1000.0 { crate::units::significant(value, 3) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            Axis::linear(0.0, 40.0, 0.0, 1.0).ticks(8),
            [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0]
        );
        assert_eq!(Axis::log(8.0, 300.0, 0.0, 1.0).ticks(5), [10.0, 20.0, 50.0, 100.0, 200.0]);
        assert_eq!(powers(2.0, 1.0, 64.0, 10), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
        assert!((nice_ceiling(187.0, 6) - 200.0).abs() < 1e-9);
        assert_eq!([0.5, 20.0, 1500.0].map(tick_text), ["0.5", "20", "1,500"]);
    }

    #[test]
    fn the_ends_of_an_axis_are_the_ends_of_its_pixels() {
        for axis in [Axis::linear(2.0, 10.0, 50.0, 250.0), Axis::log(2.0, 10.0, 50.0, 250.0)] {
            assert!((axis.at(2.0) - 50.0).abs() < 1e-9 && (axis.at(10.0) - 250.0).abs() < 1e-9);
        }
    }
}

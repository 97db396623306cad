//! What stands beside a simulated time: the closed form, and what was observed.

use crate::machine::Distribution;
use crate::sourced::Sourced;
use crate::units::Seconds;

/// An observed time among the simulated ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// The time.
    pub time: Sourced<Seconds>,
    /// Share of the simulated runs below it \[%\]; equal ones count half.
    pub percentile: f64,
}

impl Observed {
    /// Finds the place of an observed time.
    pub(super) fn among(time: Sourced<Seconds>, simulated: &Distribution) -> Self {
        let (ms, values) = (time.value.ms(), simulated.values());
        let below = values.partition_point(|value| *value < ms);
        let up_to = values.partition_point(|value| *value <= ms);
        Self { time, percentile: 50.0 * (below + up_to) as f64 / values.len() as f64 }
    }
}

/// What a simulated time is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// The closed form of `run`.
    pub closed: Seconds,
    /// What was observed of the same pass, where it was.
    pub observed: Option<Observed>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_counts_what_lies_below() {
        let simulated = Distribution::of(vec![1.0, 2.0, 3.0, 4.0]);
        for (ms, percentile) in [(0.5, 0.0), (2.5, 50.0), (3.0, 62.5), (9.0, 100.0)] {
            let observed = Observed::among(Sourced::given(Seconds::from_ms(ms)), &simulated);
            assert!((observed.percentile - percentile).abs() < 1e-12, "{ms}");
        }
    }
}

//! The outputs of a study: names, units, and the numbers at some scores.

use super::{Moved, Study};
use crate::units::{AcceptLength, Seconds, TokensPerSecond};

/// One output.
pub(super) struct Output {
    /// As in JSON and CSV.
    pub(super) key: String,
    /// As in the text.
    pub(super) name: String,
    pub(super) unit: &'static str,
}

/// Places of outputs that plain answers need.
pub(super) const SPEEDUP: usize = 0;
pub(super) const THROUGHPUT: usize = 1;
pub(super) const BASELINE_THROUGHPUT: usize = 2;
pub(super) const STEP: usize = 3;
pub(super) const CYCLE: usize = 4;
pub(super) const VERIFY: usize = 5;
pub(super) const DRAFT_HOST: usize = 6;
pub(super) const DRAFT: usize = 7;
pub(super) const HOST: usize = 8;
pub(super) const ACCEPT_LENGTH: usize = 9;
pub(super) const BREAK_EVEN_LENGTH: usize = 10;
/// First of the what-ifs' speedups.
pub(super) const WHAT_IFS: usize = 17;

const NAMES: [(&str, &str, &str); WHAT_IFS] = [
    ("speedup", "speedup", ""),
    ("speculation.throughput", "throughput", "tok/s"),
    ("baseline.throughput", "throughput without it", "tok/s"),
    ("baseline.step", "step without it", "ms"),
    ("speculation.cycle", "cycle", "ms"),
    ("speculation.verify", "verify", "ms"),
    ("speculation.draft_host", "draft and host", "ms"),
    ("speculation.draft", "draft", "ms"),
    ("speculation.host", "host", "ms"),
    ("speculation.accept_length", "accept length", "tokens"),
    ("break_even.accept_length", "break-even length", "tokens"),
    ("break_even.accept_length.draft_free", "break-even length, draft free", "tokens"),
    ("break_even.verify", "break-even verify", "ms"),
    ("break_even.verify.draft_free", "break-even verify, draft free", "ms"),
    ("break_even.allreduce", "break-even allreduce", "us"),
    ("break_even.allreduce.draft_free", "break-even allreduce, draft free", "us"),
    ("break_even.draft_host", "break-even draft and host", "ms"),
];

impl Study<'_> {
    /// The outputs, in order.
    pub(super) fn outputs(&self) -> Vec<Output> {
        let fixed =
            NAMES.map(|(key, name, unit)| Output { key: key.to_owned(), name: name.to_owned(), unit });
        let what_if = |(name, _): &(&str, _)| Output {
            key: format!("what_if.{name}.speedup"),
            name: format!("what if: {name}"),
            unit: "",
        };
        fixed.into_iter().chain(self.what_ifs.iter().map(what_if)).collect()
    }

    /// Their numbers at some scores; NaN where an output does not exist.
    pub(super) fn numbers(&self, scores: &[f64]) -> Vec<f64> {
        let Moved { known, what_ifs } = self.at(scores);
        let parts = known.parts();
        let needed = parts.needed();
        let ms = |time: Option<Seconds>| time.map_or(f64::NAN, Seconds::ms);
        let us = |time: Option<Seconds>| time.map_or(f64::NAN, Seconds::us);
        let (length, verify) = (needed.accept_length, needed.verify);
        let baseline = known.baseline_throughput.unwrap_or_else(|| parts.baseline_throughput());
        let mut numbers = Vec::with_capacity(WHAT_IFS + what_ifs.len());
        numbers.extend([
            parts.speedup_value(),
            TokensPerSecond::get(parts.throughput().value),
            baseline.value.get(),
            parts.baseline_step.value.ms(),
            parts.cycle().value.ms(),
            parts.verify.value.ms(),
            parts.draft_host.value.ms(),
            ms(known.draft.map(|draft| draft.used.value)),
            ms(known.host.map(|host| host.used.value)),
            AcceptLength::get(parts.accept_length.value),
            length.kept.get(),
            length.draft_free.get(),
            verify.kept.ms(),
            verify.draft_free.ms(),
            us(needed.allreduce.map(|pair| pair.kept)),
            us(needed.allreduce.map(|pair| pair.draft_free)),
            needed.draft_host.ms(),
        ]);
        numbers.extend(what_ifs.iter().map(crate::analytic::Parts::speedup_value));
        numbers
    }

    /// Whether a value of an output is possible at all, by its place.
    pub(super) fn is_possible(&self, output: usize, value: f64) -> bool {
        let limit = self.answered().common().accept_limit();
        match output {
            BREAK_EVEN_LENGTH | 11 => value <= limit * (1.0 + 1e-12),
            12..WHAT_IFS => value > 0.0,
            _ => true,
        }
    }
}

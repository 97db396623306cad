//! What a sweep tells about a point: a column each.

use crate::analytic::{BreakEven, Lever, Parts, Verdict};
use crate::sourced::{Source, Spread};
use crate::units::{Seconds, TokensPerSecond};

/// The answer to one point, as far as columns need it.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Both sides, as they enter the arithmetic.
    pub parts: Parts,
    /// The same by the model alone, where there is a hardware model.
    pub model: Option<Parts>,
    /// The observed throughput without speculation, where it still holds.
    pub baseline_throughput: Option<TokensPerSecond>,
    /// Drafting alone, where known apart.
    pub draft: Option<Seconds>,
    /// Host work alone, where known apart.
    pub host: Option<Seconds>,
    /// Parts that are predicted because an input of theirs changed.
    pub predicted: Vec<&'static str>,
    /// Does speculation pay, over the causes that both sides share.
    pub verdict: Verdict,
    /// The range of the speedup over these; none where inputs carry no ranges, or where no column asks for it.
    pub speedup: Option<Spread<f64>>,
    /// Probability that speculation wins, likewise.
    pub win_probability: Option<f64>,
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number in the unit that the column's name ends with.
    Number(f64),
    /// A word.
    Word(&'static str),
    /// True or false.
    Flag(bool),
    /// Words.
    Words(Vec<&'static str>),
    /// There is none: not known, not reachable.
    Missing,
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Its name, with the unit: `verify_ms`.
    pub name: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Its value.
    pub of: fn(&Outcome) -> Value,
}

/// The columns that are shown where none are chosen.
pub const DEFAULT_METRICS: [&str; 8] = [
    "verdict",
    "speedup",
    "throughput_tok_s",
    "baseline_throughput_tok_s",
    "accept_length",
    "cycle_ms",
    "verify_ms",
    "draft_host_ms",
];

/// The columns with these names.
///
/// # Errors
/// The first name that is none.
pub fn metrics<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Vec<&'static Metric>, &'n str> {
    names.into_iter().map(|name| METRICS.iter().find(|metric| metric.name == name).ok_or(name)).collect()
}

macro_rules! columns {
    ($($name:literal, $meaning:literal, $of:expr;)*) => {
        &[$(Metric { name: $name, meaning: $meaning, of: $of }),*]
    };
}

/// All columns.
pub const METRICS: &[Metric] = columns! {
    "verdict", "does speculation pay: wins, loses or ties", |o| Value::Word(word(o.verdict));
    "speedup", "throughput with speculation over throughput without", |o| Value::Number(o.parts.speedup_value());
    "speedup_low", "lower end of its range, where inputs carry ranges", |o| maybe(o.speedup.map(|range| range.low));
    "speedup_high", "upper end of its range", |o| maybe(o.speedup.map(|range| range.high));
    "win_probability", "probability that speculation wins, where inputs carry ranges",
        |o| maybe(o.win_probability);
    "throughput_tok_s", "output with speculation, over all requests",
        |o| Value::Number(o.parts.throughput().value.get());
    "baseline_throughput_tok_s", "output without speculation, over all requests",
        |o| Value::Number(o.baseline_throughput.unwrap_or_else(|| o.parts.baseline_throughput().value).get());
    "accept_length", "tokens per verify pass and request, bonus token included",
        |o| Value::Number(o.parts.accept_length.value.get());
    "baseline_step_ms", "one decode step without speculation", |o| ms(o.parts.baseline_step.value);
    "cycle_ms", "one cycle: drafting, host work and verify", |o| ms(o.parts.cycle().value);
    "verify_ms", "the verify pass", |o| ms(o.parts.verify.value);
    "draft_host_ms", "drafting and host work of a cycle", |o| ms(o.parts.draft_host.value);
    "draft_ms", "drafting alone, where known apart", |o| o.draft.map_or(Value::Missing, ms);
    "host_ms", "host work alone, where known apart", |o| o.host.map_or(Value::Missing, ms);
    "allreduce_us", "one all-reduce of the verify pass",
        |o| maybe(o.parts.allreduce.map(|part| part.each.value.us()));
    "allreduce_count", "all-reduces of the verify pass",
        |o| maybe(o.parts.allreduce.map(|part| f64::from(part.count)));
    "break_even_accept_length", "accept length from which speculation pays, the rest unchanged",
        |o| needed(&o.parts.break_evens().accept_length, crate::units::AcceptLength::get);
    "break_even_verify_ms", "verify time up to which it pays",
        |o| needed(&o.parts.break_evens().verify, Seconds::ms);
    "break_even_allreduce_us", "time of one all-reduce up to which it pays",
        |o| o.parts.break_evens().allreduce.map_or(Value::Missing, |lever| needed(&lever, Seconds::us));
    "break_even_draft_host_ms", "drafting and host work up to which it pays",
        |o| needed(&o.parts.break_evens().draft_host, Seconds::ms);
    "elasticity_verify", "relative change of the speedup per relative change of verify",
        |o| Value::Number(o.parts.elasticity_values().verify);
    "elasticity_allreduce", "the same of one all-reduce", |o| maybe(o.parts.elasticity_values().allreduce);
    "elasticity_draft_host", "the same of drafting and host work",
        |o| Value::Number(o.parts.elasticity_values().draft_host);
    "model_speedup", "the speedup by the model alone, without what was observed",
        |o| maybe(o.model.as_ref().map(Parts::speedup_value));
    "source", "the weakest source that entered the speedup", |o| Value::Word(source(o.parts.speedup().source));
    "extrapolated", "whether a table was left at its edge", |o| Value::Flag(o.parts.speedup().extrapolated);
    "predicted_parts", "parts that are predicted because an input of theirs changed",
        |o| Value::Words(o.predicted.clone());
};

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Wins => "wins",
        Verdict::Loses => "loses",
        Verdict::Ties => "ties",
    }
}

fn source(source: Source) -> &'static str {
    source.word()
}

fn ms(time: Seconds) -> Value {
    Value::Number(time.ms())
}

fn maybe(value: Option<f64>) -> Value {
    value.map_or(Value::Missing, Value::Number)
}

fn needed<T: Copy>(lever: &Lever<T>, number: impl Fn(T) -> f64) -> Value {
    match &lever.needed {
        BreakEven::Reached { value, .. } => maybe(value.map(number)),
        BreakEven::Unreachable { .. } => Value::Missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_names_of_their_own_and_the_default_ones_exist() {
        for (at, metric) in METRICS.iter().enumerate() {
            assert!(METRICS[..at].iter().all(|other| other.name != metric.name), "{}", metric.name);
            assert!(!metric.meaning.is_empty());
        }
        assert_eq!(metrics(DEFAULT_METRICS).map(|list| list.len()), Ok(8));
        assert_eq!(metrics(["speedup", "spedup"]).err(), Some("spedup"));
    }
}

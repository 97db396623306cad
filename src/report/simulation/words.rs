//! Sentences and sections that text and Markdown share.

use crate::machine::Distribution;
use crate::report::context::{Context, Style};
use crate::report::number::{percent, times};
use crate::report::paint::Tone;
use crate::report::wrap::paragraph;
use crate::serving::{Arrivals, Length, Lengths, ServingConfig};
use crate::simulation::{
    Beside, Comparison, LoadUnit, MachineAnswer, Measure, Observed, Outcome, ServingAnswer,
};
use crate::units::{Seconds, significant};

/// Milliseconds of a distribution as a time.
pub(super) const fn ms(value: f64) -> Seconds {
    Seconds::from_ms(value)
}

/// A count with thousands separated.
pub(super) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The first sentence about the machine.
pub(super) fn machine_claim(answer: &MachineAnswer) -> String {
    let verify = &answer.result.verify_ms;
    let closed = answer.verify.closed;
    if answer.result.runs == 1 {
        return format!("Verify takes {} in one run; the closed form says {closed}.", ms(verify.mean()));
    }
    let (low, high) = (ms(verify.p10()).to_string(), ms(verify.p90()).to_string());
    if low == high {
        return format!(
            "Verify takes {low} in 80 % of {} runs; the closed form says {closed}.",
            count(u64::from(answer.result.runs))
        );
    }
    format!(
        "Verify takes {} to {} in 80 % of {} runs, {} on average; the closed form says {closed}.",
        ms(verify.p10()),
        ms(verify.p90()),
        count(u64::from(answer.result.runs)),
        ms(verify.mean()),
    )
}

/// Where the observed verify time lies.
pub(super) fn machine_observed(answer: &MachineAnswer) -> Option<String> {
    let observed = answer.verify.observed?;
    let time = observed.time.value;
    let runs = answer.result.runs;
    Some(if runs == 1 {
        format!("{time} were observed.")
    } else {
        match observed.percentile {
            p if p <= 0.0 => format!("{time} were observed, less than in any run."),
            p if p >= 100.0 => format!("{time} were observed, more than in any run."),
            p => format!("{time} were observed: {} of the runs take less.", percent(p / 100.0)),
        }
    })
}

/// The percentile of an observed time.
pub(super) fn percentile(observed: &Observed, runs: u32) -> String {
    match observed.percentile {
        _ if runs == 1 => String::new(),
        p if p <= 0.0 => "below all".to_owned(),
        p if p >= 100.0 => "above all".to_owned(),
        p if p < 1.0 => "p0 to p1".to_owned(),
        p if p > 99.0 => "p99 to p100".to_owned(),
        p => format!("p{p:.0}"),
    }
}

/// Names of the simulated times with what stands beside them.
pub(super) fn machine_rows(answer: &MachineAnswer) -> [(String, &Distribution, &Beside, &'static str); 4] {
    let result = &answer.result;
    [
        (format!("step, {}", answer.decode_execution), &result.decode_ms, &answer.decode, "decode_ms"),
        (format!("verify, {}", answer.verify_execution), &result.verify_ms, &answer.verify, "verify_ms"),
        ("cycle".to_owned(), &result.cycle_ms, &answer.cycle, "cycle_ms"),
        ("all-reduce booked".to_owned(), &result.verify.booked_ms, &answer.allreduce, "allreduce.booked_ms"),
    ]
}

/// The first sentences about served requests.
pub(super) fn serving_claim(answer: &ServingAnswer) -> (String, Outcome) {
    let comparison = &answer.comparison;
    let verb = match comparison.outcome {
        Outcome::Wins => "wins",
        Outcome::Loses => "loses",
        Outcome::Ties => "ties",
    };
    let ratio = match comparison.ratio {
        ratio if ratio.is_finite() => format!(" ({})", times(ratio)),
        _ => String::new(),
    };
    let (with, without) = (&answer.with, &answer.without);
    let what = match comparison.by {
        Measure::Goodput => format!(
            "{} requests/s are answered within the SLO, against {} without it{ratio}",
            significant(with.goodput.request_rate, 3),
            significant(without.goodput.request_rate, 3),
        ),
        Measure::Throughput => {
            format!("{}, against {} without it{ratio}", with.throughput, without.throughput)
        }
        Measure::Latency => format!(
            "a request takes {} on average, against {} without it{ratio}, at equal throughput",
            with.e2e.mean, without.e2e.mean,
        ),
    };
    (format!("Speculation {verb} under this load: {what}."), comparison.outcome)
}

/// The requests that were served, in words.
pub fn served_words(config: &ServingConfig) -> String {
    let interval = |time: Seconds| format!("one every {time}");
    let arrivals = match config.arrivals {
        Arrivals::Poisson { interval: i } => format!("Poisson arrivals, {}", interval(i)),
        Arrivals::Gamma { interval: i, variation } => {
            format!("gamma arrivals of variation {variation}, {}", interval(i))
        }
        Arrivals::Constant { interval: i } => format!("constant arrivals, {}", interval(i)),
        Arrivals::Trace => "recorded arrivals".to_owned(),
        Arrivals::Closed { users: 1 } => "1 user".to_owned(),
        Arrivals::Closed { users } => format!("{} users", count(u64::from(users))),
    };
    let length = |length: Length| match length {
        Length::Fixed(tokens) => count(u64::from(tokens)),
        Length::Lognormal { mean, variation } => {
            format!("{} ± {:.0} %", count(mean as u64), 100.0 * variation)
        }
        Length::Exponential { mean } => format!("{} (exponential)", count(mean as u64)),
    };
    let lengths = match config.lengths {
        Lengths::Drawn { prompt, output } => {
            format!("prompts of {} and outputs of {} tokens", length(prompt), length(output))
        }
        Lengths::Trace => "recorded lengths".to_owned(),
    };
    let replicas = match config.replicas {
        1 => String::new(),
        n => format!(", {n} replicas"),
    };
    format!("{} requests, {arrivals}, {lengths}{replicas}", count(config.requests))
}

/// A verdict with its ratio, where that is a number.
pub(super) fn outcome(comparison: &Comparison) -> String {
    let verb = match comparison.outcome {
        Outcome::Wins => "wins",
        Outcome::Loses => "loses",
        Outcome::Ties => "ties",
    };
    if comparison.ratio.is_finite() {
        format!("{verb}, {}", times(comparison.ratio))
    } else {
        verb.to_owned()
    }
}

/// A load.
pub(super) fn amount(load: f64, unit: LoadUnit) -> String {
    match unit {
        LoadUnit::RequestsPerSecond => significant(load, 3),
        LoadUnit::Users => count(load as u64),
    }
}

/// Numbered notes, where there are any.
pub(super) fn notes(notes: &[String], style: &Style) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let heading = Tone::Strong.paint("Notes", style.color);
    let lines: String = notes.iter().map(|note| paragraph(note, "  - ", "    ", style.width)).collect();
    format!("{heading}\n{lines}")
}

/// Overrides, as `run` shows them.
pub(super) fn overrides(context: &Context, style: &Style) -> String {
    let line = |(key, value): &(String, String)| {
        paragraph(&format!("with {key} = {value}"), "  ", "    ", style.width)
    };
    context.overrides.iter().map(line).collect()
}

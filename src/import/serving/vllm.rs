//! vLLM's acceptance and throughput lines, V0 and all versions of V1.
//!
//! ```text
//! V0  Speculative metrics: Draft acceptance rate: 0.607, System efficiency: 0.510, Number of speculative tokens: 4, ...
//! V1  SpecDecoding metrics: Draft acceptance rate: nan%, Accepted: 0 tokens, Drafted: 0 tokens                 (Apr 2025)
//!     SpecDecoding metrics: Draft acceptance rate: 38.8%, Mean acceptance length: 2.16, Accepted: 150 tokens, ... (Jun 2025)
//!     SpecDecoding metrics: Mean acceptance length: 2.56, Accepted throughput: 46.40 tokens/s, ...             (later)
//! ```
//!
//! V1 (`v1/spec_decode/metrics.py`) counts one interval. Mean acceptance length = 1 + accepted / drafts; rates per position
//! are cumulative, accepted there / drafts; k is the number of positions, drafts = drafted / k. So accepted, drafted and the
//! rates check one another, and a line on which they disagree is refused. V0 (`spec_decode/metrics.py`) counts since the start
//! of the server, and its acceptance rate also counts tokens after the first rejection (vllm#9565): emitted / drafts is the
//! accept length, and differences of two lines make an interval.

use super::interval::Counted;
use super::printed::{Printed, whole};

/// Begins a record of V1.
pub(super) const V1: &str = "SpecDecoding metrics:";
/// Begins a record of V0.
pub(super) const V0: &str = "Speculative metrics:";
/// Stands in a throughput record.
pub(super) const ENGINE: &str = "Avg prompt throughput:";

/// A record of V1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spec {
    pub(super) counted: Counted,
    /// Accepted tokens per second; none in early versions.
    pub(super) accepted_rate: Option<Printed>,
    /// What is odd about it.
    pub(super) odd: Option<&'static str>,
}

/// Reads a record that begins with [`V1`]; none where nothing was drafted.
///
/// # Errors
/// What makes it unreadable or inconsistent.
pub(super) fn spec(record: &str) -> Result<Option<Spec>, &'static str> {
    let tokens = |name: &str| -> Result<u64, &'static str> {
        let value = after(record, name).ok_or("the record was cut: no accepted or drafted tokens")?;
        let (digits, _) = value.split_once(" tokens").ok_or("the record was cut inside a count")?;
        digits.trim().parse().map_err(|_| "a count is no whole number")
    };
    let (accepted, drafted) = (tokens(" Accepted:")?, tokens(" Drafted:")?);
    if drafted == 0 {
        return Ok(None);
    }
    if accepted > drafted {
        return Err("more tokens were accepted than drafted");
    }
    let percent = after(record, "raft acceptance rate:")
        .and_then(|value| Printed::parse(value.split_once('%')?.0.trim()));
    if percent.is_some_and(|percent| !percent.may_be(100.0 * accepted as f64 / drafted as f64)) {
        return Err("the draft acceptance rate is not accepted / drafted");
    }
    let rates = positions(record)?;
    let printed = match after(record, "Mean acceptance length:") {
        Some(value) => {
            Some(Printed::parse(value.split(',').next().unwrap_or("").trim()).ok_or("a mean is no number")?)
        }
        None => None,
    };
    let accepted_rate = after(record, "Accepted throughput:").and_then(|value| {
        Printed::parse(value.split_once(" tokens/s")?.0.trim()).filter(|rate| rate.value > 0.0)
    });
    let Some((k, printed)) = (!rates.is_empty()).then_some(rates.len() as u64).zip(printed) else {
        return Err("no positions or no mean: drafts are unknown");
    };
    checked(accepted, drafted, k, &rates, printed, accepted_rate)
}

fn checked(
    accepted: u64,
    drafted: u64,
    k: u64,
    rates: &[Printed],
    printed: Printed,
    accepted_rate: Option<Printed>,
) -> Result<Option<Spec>, &'static str> {
    let sum: f64 = rates.iter().map(|rate| rate.value).sum();
    let tolerance = printed.half + rates.iter().map(|rate| rate.half).sum::<f64>();
    if (1.0 + sum - printed.value).abs() > tolerance * (1.0 + 1e-9) {
        return Err("the mean is not 1 + the sum of rates per position");
    }
    // Fewer tokens than k may be drafted near a request's end, or by a schedule: the mean then tells the drafts.
    let exact =
        drafted.is_multiple_of(k) && printed.may_be(1.0 + accepted as f64 * k as f64 / drafted as f64);
    let drafts = if exact { drafted / k } else { drafts_of(accepted, rates, printed).unwrap_or(0) };
    let odd = (!exact).then_some("drafted is no multiple of k: drafts follow from the mean");
    if drafts == 0 || drafted > drafts.saturating_mul(k) {
        return Err("accepted, drafted and the mean disagree");
    }
    let positions = counts(drafts, accepted, rates)
        .ok_or("the rates per position do not add up to the accepted tokens")?;
    let counted = Counted { drafts, drafted, accepted, positions, rounded: true };
    Ok(Some(Spec { counted, accepted_rate, odd }))
}

/// The number of drafts that agrees best with the first rate and the mean.
fn drafts_of(accepted: u64, rates: &[Printed], printed: Printed) -> Option<u64> {
    let sum: f64 = rates.iter().map(|rate| rate.value).sum();
    let (finer, half) = (sum, rates.iter().map(|rate| rate.half).sum::<f64>());
    let drafts = (accepted as f64 / finer).round();
    let agrees = finer > half && printed.may_be(1.0 + accepted as f64 / drafts);
    (agrees && drafts.is_finite() && drafts >= 1.0).then_some(drafts as u64)
}

/// Whole counts that round to the printed rates, never rise, and add up to `accepted`.
pub(super) fn counts(drafts: u64, accepted: u64, rates: &[Printed]) -> Option<Vec<u64>> {
    let n = drafts as f64;
    let low = |rate: &Printed| ((rate.value - rate.half) * n - 1e-6).ceil().max(0.0) as u64;
    let high = |rate: &Printed| ((rate.value + rate.half) * n + 1e-6).floor().min(n) as u64;
    let mut counts: Vec<u64> =
        rates.iter().map(|rate| ((rate.value * n).round() as u64).min(drafts)).collect();
    let mut missing = i128::from(accepted) - counts.iter().map(|c| i128::from(*c)).sum::<i128>();
    // Whole steps at every position first, then single ones from the front.
    for (count, rate) in counts.iter_mut().zip(rates) {
        let room = if missing > 0 {
            i128::from(high(rate).saturating_sub(*count)).min(missing)
        } else {
            -i128::from(count.saturating_sub(low(rate))).min(-missing)
        };
        *count = (i128::from(*count) + room) as u64;
        missing -= room;
    }
    let falls = counts.windows(2).all(|pair| pair[1] <= pair[0]);
    (missing == 0 && falls && counts.first().is_none_or(|c| *c <= drafts)).then_some(counts)
}

/// The rates per position: numbers up to the next name. They end with a comma, since a name follows, or with the record.
fn positions(record: &str) -> Result<Vec<Printed>, &'static str> {
    let Some(list) = after(record, "Per-position acceptance rate:") else { return Ok(Vec::new()) };
    let list = list.trim().trim_start_matches('[');
    let mut rates = Vec::new();
    for part in list.split(',').map(|part| part.trim().trim_end_matches(']')) {
        match Printed::parse(part) {
            Some(rate) if rate.value <= 1.0 => rates.push(rate),
            Some(_) => return Err("a rate per position is above 1"),
            None => break,
        }
    }
    if rates.windows(2).any(|pair| pair[1].value > pair[0].value) {
        return Err("rates per position rise, though they are cumulative");
    }
    Ok(rates)
}

/// A record of V0: counters since the start of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpecV0 {
    pub(super) k: u64,
    pub(super) accepted: u64,
    pub(super) drafted: u64,
    pub(super) emitted: u64,
}

impl SpecV0 {
    /// Drafts, where every draft has k tokens.
    pub(super) const fn drafts(&self) -> u64 {
        self.drafted / self.k
    }
}

/// Reads a record that begins with [`V0`]; none where nothing was drafted.
///
/// # Errors
/// What makes it unreadable or inconsistent.
pub(super) fn spec_v0(record: &str) -> Result<Option<SpecV0>, &'static str> {
    let count = |name: &str, last: bool| -> Result<u64, &'static str> {
        let value = after(record, name).ok_or("the record was cut: a count is missing")?;
        let end = value.find([',', '\n']).unwrap_or(value.len());
        let text = value[..end].trim();
        // The last count ends with a full stop, which a cut would take away.
        let text =
            if last { text.strip_suffix('.').ok_or("the record was cut inside a count")? } else { text };
        whole(text).ok_or("a count is no whole number")
    };
    let found = SpecV0 {
        k: count("Number of speculative tokens:", false)?,
        accepted: count("Number of accepted tokens:", false)?,
        drafted: count("Number of draft tokens:", false)?,
        emitted: count("Number of emitted tokens:", true)?,
    };
    if found.drafted == 0 {
        return Ok(None);
    }
    if found.k == 0 || found.accepted > found.drafted || found.drafts() == 0 {
        return Err("its counts disagree");
    }
    let (drafts, most) = (found.drafts(), found.k.saturating_add(1).saturating_mul(found.drafts() + 1));
    if found.emitted < drafts || found.emitted > most {
        return Err("emitted tokens lie outside one to k + 1 per draft");
    }
    Ok(Some(found))
}

/// A throughput record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Engine {
    pub(super) replica: u32,
    pub(super) running: u32,
    pub(super) queued: u32,
    /// Generated tokens per second.
    pub(super) generation: f64,
    /// Prompt tokens per second.
    pub(super) prompt: f64,
}

/// Reads a line with [`ENGINE`] in it.
///
/// # Errors
/// What makes it unreadable.
pub(super) fn engine(line: &str) -> Result<Engine, &'static str> {
    let rate = |name: &str| -> Result<f64, &'static str> {
        let value = after(line, name).and_then(|value| value.split_once(" tokens/s"));
        let (number, _) = value.ok_or("the record was cut: a throughput is missing")?;
        Printed::parse(number.trim()).map(|p| p.value).ok_or("a throughput is no number")
    };
    let requests = |name: &str| -> Option<&str> { Some(after(line, name)?.split_once(" reqs")?.0.trim()) };
    let running = requests("Running:").ok_or("the record was cut: no running requests")?;
    let queued = requests("Waiting:")
        .or_else(|| requests("Pending:"))
        .ok_or("the record was cut: no waiting requests")?;
    let count = |text: &str| text.parse::<u32>().map_err(|_| "a count is no whole number");
    let replica = line.find("Engine ").and_then(|at| line[at + 7..].split(':').next()?.trim().parse().ok());
    Ok(Engine {
        replica: replica.unwrap_or(0),
        running: count(running)?,
        queued: count(queued)?,
        generation: rate("Avg generation throughput:")?,
        prompt: rate(ENGINE)?,
    })
}

/// What follows a name.
pub(super) fn after<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.find(name).map(|at| &text[at + name.len()..])
}

#[cfg(test)]
#[path = "vllm_tests.rs"]
mod tests;

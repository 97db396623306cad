//! Fields of a result, and what is odd about them.

use serde_json::{Map, Value};

use super::Benchmark;
use crate::import::Summary;
use crate::units::{AcceptLength, Seconds, TokensPerSecond};

/// The longest result \[B\]: those with every request in them hold lists of all times.
pub(super) const LONGEST: usize = 64 << 20;

/// The fields of one result; what was asked for counts as known.
pub(super) struct Fields<'a> {
    map: &'a Map<String, Value>,
    known: Vec<&'a str>,
    /// Figures that cannot be, with their keys.
    odd: Vec<String>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(map: &'a Map<String, Value>) -> Self {
        Self { map, known: Vec::new(), odd: Vec::new() }
    }

    /// Whether a key is there, whatever it holds; that alone does not make it known.
    pub(super) fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    pub(super) fn value(&mut self, key: &'a str) -> Option<&'a Value> {
        self.known.push(key);
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// A number that can be: finite and not negative; text that holds one counts.
    pub(super) fn number(&mut self, key: &'a str) -> Option<f64> {
        let value = self.value(key)?;
        let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
        let sound = number.is_finite() && (0.0..1e15).contains(&number);
        if !sound {
            self.odd.push(format!("`{key}` cannot be {number}: it is left out"));
        }
        sound.then_some(number)
    }

    pub(super) fn positive(&mut self, key: &'a str) -> Option<f64> {
        self.number(key).filter(|number| *number > 0.0)
    }

    pub(super) fn count(&mut self, key: &'a str) -> Option<u64> {
        self.number(key).map(|number| number.round() as u64)
    }

    pub(super) fn text(&mut self, key: &'a str) -> Option<String> {
        self.value(key)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Shares between 0 and 1.
    pub(super) fn shares(&mut self, key: &'a str) -> Vec<f64> {
        let list = self.value(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let shares: Vec<f64> = list.iter().filter_map(Value::as_f64).collect();
        let sound = shares.len() == list.len() && shares.iter().all(|share| (0.0..=1.0).contains(share));
        if sound && shares.len() <= 64 { shares } else { Vec::new() }
    }

    /// Statistics of times, whichever there are.
    pub(super) fn latencies(&mut self, into: &mut Benchmark) {
        for (key, value) in self.map {
            let measured = ["_ttft_ms", "_tpot_ms", "_itl_ms", "_e2e_latency_ms", "_e2el_ms"];
            if measured.iter().any(|end| key.ends_with(end))
                && let Some(number) = value.as_f64().filter(|number| number.is_finite())
            {
                self.known.push(key);
                if number < 0.0 {
                    self.odd.push(format!("`{key}` cannot be {number}: it is left out"));
                    continue;
                }
                into.latencies_ms.insert(key.clone(), number);
            }
        }
    }

    /// Keys that nobody asked for, and figures that cannot be.
    pub(super) fn unknown(self, ignored: &[&str], summary: &mut Summary) {
        for why in &self.odd {
            summary.warn("figure", 0, why, "");
        }
        for key in self.map.keys() {
            if !self.known.contains(&key.as_str()) && !ignored.contains(&key.as_str()) {
                summary.unknown_key(key);
            }
        }
    }
}

/// A throughput that can be.
pub(super) fn throughput(number: Option<f64>) -> Option<TokensPerSecond> {
    number.filter(|number| *number > 0.0 && *number < 1e9).map(TokensPerSecond::new)
}

/// A time that can be.
pub(super) fn seconds(number: Option<f64>) -> Option<Seconds> {
    number.filter(|number| *number > 0.0 && *number < 1e9).map(Seconds::new)
}

/// An accept length that can be: at least the bonus token.
pub(super) fn accept_length(number: Option<f64>, line: u64, summary: &mut Summary) -> Option<AcceptLength> {
    let number = number?;
    if (1.0..=1025.0).contains(&number) {
        return Some(AcceptLength::new(number));
    }
    if number > 0.0 {
        let why = format!("an accept length of {number} leaves out the bonus token, or is none");
        summary.warn("accept-length", line, &why, "");
    }
    None
}

/// Output tokens over the length of the run are its throughput, and a run without an answer has none.
fn sums(found: &Benchmark, line: u64, summary: &mut Summary) {
    let Some(said) = found.throughput.map(TokensPerSecond::get) else { return };
    if found.completed == Some(0) {
        summary.warn("checksum", line, &format!("no request was completed, and {said} tok/s are told"), "");
    }
    if let (Some(tokens), Some(duration)) = (found.output_tokens, found.duration) {
        let expected = tokens as f64 / duration.get();
        if (said - expected).abs() > 0.02 * expected.max(said) {
            let why = format!(
                "a throughput of {said} tok/s is not {tokens} output tokens in {duration}, {expected:.1} tok/s"
            );
            summary.warn("checksum", line, &why, "");
        }
    }
}

/// Says what should be known about a result before its figures are used.
pub(super) fn cautions(found: &Benchmark, dataset: Option<&str>, line: u64, summary: &mut Summary) {
    if dataset.is_some_and(|name| name.starts_with("random")) && found.accept_length.is_some() {
        let why = "random-token prompts: their accept length says nothing about real text";
        summary.warn("random-prompts", line, why, "");
    }
    sums(found, line, summary);
    let mean = |key: &str| found.latencies_ms.get(key).copied().filter(|ms| *ms > 0.0);
    if let (Some(itl), Some(tpot)) = (mean("mean_itl_ms"), mean("mean_tpot_ms"))
        && itl > 1.3 * tpot
    {
        let why =
            format!("ITL {itl:.1} ms is per chunk, that is per cycle: a token takes {tpot:.1} ms (TPOT)");
        summary.warn("itl-per-chunk", line, &why, "");
    }
    if found.duration.is_some_and(|time| time.get() < 60.0) && found.accept_length.is_some() {
        summary.warn("short-run", line, "runs of 30 s move the accept length by about 0.2", "");
    }
}

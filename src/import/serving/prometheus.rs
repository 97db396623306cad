//! Text dumps of `/metrics`, of vLLM, SGLang and TensorRT-LLM.
//!
//! ```text
//! vllm:spec_decode_num_drafts_total{engine="0",model_name="m"} 1234.0
//! vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} 900.0
//! sglang:spec_accept_length{model_name="m"} 2.94
//! ```
//!
//! vLLM counts since the start of the server (`v1/spec_decode/metrics.py`): two dumps, in one file or in two, make an interval;
//! one dump alone tells the time since boot, warm-up and other workloads included, and that is said. SGLang and TensorRT-LLM
//! export gauges: each dump is one observation. A dump begins where a series comes again. A counter that falls tells of a
//! restart: that pair of dumps makes no interval.

use std::collections::BTreeMap;
use std::io::BufRead;

use super::interval::{Counted, DecodeInterval, Server};
use crate::import::lines::{Seen, each_line};
use crate::import::{Importer, Observation, Sink, Summary, What};
use crate::units::{AcceptLength, TokensPerSecond};

/// Dumps of metrics.
pub(in crate::import) static DUMPS: Importer = Importer {
    kind: "prometheus",
    about: "text dumps of /metrics: counters of vLLM, gauges of SGLang and TensorRT-LLM",
    claim: |head| {
        let words = [
            "vllm:spec_decode_num_",
            "sglang:gen_throughput",
            "sglang:spec_accept_length",
            "trtllm_spec_decode_",
        ];
        if head.has("# TYPE ") { head.sure_if(&words) } else { head.sure_if(&words[..1]) }
    },
    read,
};

/// Positions that a dump may name; vLLM drafts at most a few dozen tokens.
const MOST_POSITIONS: usize = 256;

/// Beyond 2^53, counters kept as floating point numbers no longer count.
const MOST_COUNT: f64 = 9_007_199_254_740_992.0;

/// Series of one dump, by name and labels.
type Series = BTreeMap<String, f64>;

/// Bytes of series names of one dump, so that a broken file takes no memory.
const MOST_BYTES: usize = 8 << 20;

fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Summary {
    let mut summary = Summary::default();
    let mut dumps = Dumps::default();
    each_line(input, &mut summary, |summary, line| {
        let text = line.text.trim();
        if text.starts_with('#') || !is_ours(text) {
            return Seen::Other;
        }
        match sample(text) {
            Ok((name, value)) => dumps.sample(name, value, line.number, summary, sink),
            Err(why) => Seen::Skipped(why.to_owned()),
        }
    });
    dumps.end(summary.lines, &mut summary, sink);
    summary
}

fn is_ours(text: &str) -> bool {
    const OURS: [&str; 7] = [
        "vllm:spec_decode_num_",
        "sglang:spec_accept_length",
        "sglang:gen_throughput",
        "sglang:num_running_reqs",
        "sglang:num_queue_reqs",
        "trtllm_spec_decode_acceptance_length",
        "vllm:num_requests_running",
    ];
    OURS.iter().any(|name| text.starts_with(name)) && !text.contains("_created")
}

/// Name with labels, and value; a time stamp may follow.
fn sample(text: &str) -> Result<(&str, f64), &'static str> {
    let (name, rest) = match text.rfind('}') {
        Some(end) => text.split_at(end + 1),
        None => text.split_at(text.find(' ').ok_or("a sample without a value")?),
    };
    let value = rest.split_whitespace().next().ok_or("a sample without a value")?;
    let value: f64 = value.parse().map_err(|_| "a value is no number")?;
    if (0.0..=MOST_COUNT).contains(&value) { Ok((name, value)) } else { Err("a value is no count") }
}

#[derive(Default)]
struct Dumps {
    before: Option<Series>,
    now: Series,
    bytes: usize,
}

impl Dumps {
    fn sample(&mut self, name: &str, value: f64, line: u64, summary: &mut Summary, sink: &mut Sink) -> Seen {
        if self.now.contains_key(name) {
            self.end(line, summary, sink);
        }
        self.bytes += name.len();
        if self.bytes > MOST_BYTES {
            return Seen::Skipped("more series than any server exports".to_owned());
        }
        self.now.insert(name.to_owned(), value);
        Seen::Read
    }

    /// A dump ends.
    fn end(&mut self, line: u64, summary: &mut Summary, sink: &mut Sink) {
        let now = std::mem::take(&mut self.now);
        self.bytes = 0;
        if now.is_empty() {
            return;
        }
        gauges(&now, line, sink);
        if let Some(counted) = counters(&now, self.before.as_ref()) {
            match counted {
                Ok(counted) => emit(counted, line, self.before.is_none(), sink),
                Err(why) => summary.warn("counters", line, why, ""),
            }
            self.before = Some(now);
        }
    }
}

/// Counters of vLLM since the dump before; none where the dump has none.
fn counters(now: &Series, before: Option<&Series>) -> Option<Result<Counted, &'static str>> {
    let sum = |name: &str| -> Option<Result<u64, &'static str>> {
        let mut sum = None;
        for (series, value) in now.iter().filter(|(series, _)| of(series, name)) {
            let difference = value - before.and_then(|before| before.get(series)).copied().unwrap_or(0.0);
            if difference < 0.0 {
                return Some(Err("a counter fell: the server was restarted between dumps"));
            }
            sum = Some(sum.unwrap_or(0.0) + difference);
        }
        if sum.is_some_and(|sum| sum > MOST_COUNT) {
            return Some(Err("the counters of all engines add up to more than any server counts"));
        }
        sum.map(|sum| Ok(sum.round() as u64))
    };
    let drafts = sum("vllm:spec_decode_num_drafts")?;
    let all = || -> Result<Counted, &'static str> {
        let drafts = drafts?;
        let accepted =
            sum("vllm:spec_decode_num_accepted_tokens").ok_or("a dump without accepted tokens")??;
        let drafted = sum("vllm:spec_decode_num_draft_tokens").unwrap_or(Ok(0))?;
        let most = if drafted > 0 { drafted } else { drafts.saturating_mul(MOST_POSITIONS as u64) };
        if drafts > 0 && accepted > most {
            return Err("more tokens were accepted than drafted");
        }
        let mut positions = vec![0.0; deepest(now)];
        for (series, value) in now.iter().filter(|(series, _)| of(series, PER_POSITION)) {
            let before = before.and_then(|before| before.get(series)).copied().unwrap_or(0.0);
            if let Some(sum) = position(series).and_then(|at| positions.get_mut(at)) {
                *sum += value - before;
            }
        }
        let positions: Vec<u64> = positions.iter().map(|sum| sum.max(0.0).round() as u64).collect();
        let falls = std::iter::once(&drafts).chain(&positions).is_sorted_by(|a, b| a >= b);
        if !positions.is_empty() && (!falls || positions.iter().sum::<u64>() != accepted) {
            return Err("tokens per position do not add up to the accepted ones");
        }
        Ok(Counted { drafts, drafted, accepted, positions, rounded: false })
    };
    Some(all())
}

const PER_POSITION: &str = "vllm:spec_decode_num_accepted_tokens_per_pos";

/// Whether a series is of a counter, whose name may end with `_total`.
fn of(series: &str, name: &str) -> bool {
    let bare = series.split('{').next().unwrap_or(series);
    bare.strip_suffix("_total").unwrap_or(bare) == name
}

fn position(series: &str) -> Option<usize> {
    let (_, rest) = series.split_once("position=\"")?;
    rest.split('"').next()?.parse().ok().filter(|at| *at < MOST_POSITIONS)
}

/// Positions that the dump names.
fn deepest(now: &Series) -> usize {
    now.keys()
        .filter(|series| of(series, PER_POSITION))
        .filter_map(|series| position(series))
        .max()
        .map_or(0, |at| at + 1)
}

fn emit(counted: Counted, line: u64, since_boot: bool, sink: &mut Sink) {
    if counted.drafts == 0 {
        return;
    }
    let mut interval = DecodeInterval::new(Server::Vllm, line);
    interval.accept_length = Some(AcceptLength::new(1.0 + counted.accepted as f64 / counted.drafts as f64));
    interval.drafted_tokens = u32::try_from(counted.positions.len()).ok().filter(|k| *k > 0);
    interval.counted = Some(counted);
    interval.since_boot = since_boot;
    sink(Observation::at(line, What::Decode(Box::new(interval))));
}

/// Gauges of SGLang, by their labels, and of TensorRT-LLM.
fn gauges(now: &Series, line: u64, sink: &mut Sink) {
    for (series, length) in
        now.iter().filter(|(_, value)| (1.0..=MOST_POSITIONS as f64 + 1.0).contains(*value))
    {
        let (bare, labels) = series.split_at(series.find('{').unwrap_or(series.len()));
        let server = match bare {
            "sglang:spec_accept_length" => Server::Sglang,
            "trtllm_spec_decode_acceptance_length" => Server::TensorRt,
            _ => continue,
        };
        let mut interval = DecodeInterval::new(server, line);
        interval.accept_length = Some(AcceptLength::new(*length));
        let gauge = |name: &str| now.get(&format!("{name}{labels}")).copied();
        if server == Server::Sglang {
            interval.throughput = gauge("sglang:gen_throughput").map(TokensPerSecond::new);
            interval.running = gauge("sglang:num_running_reqs").map(|running| running as u32);
            interval.queued = gauge("sglang:num_queue_reqs").map(|queued| queued as u32);
        }
        sink(Observation::at(line, What::Decode(Box::new(interval))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(text: &str) -> (Vec<DecodeInterval>, Summary) {
        super::super::intervals_of(read, text)
    }

    fn dump(engine: u32, drafts: u64, positions: [u64; 3]) -> String {
        let label = format!("engine=\"{engine}\",model_name=\"m\"");
        let mut text = format!(
            "# TYPE vllm:spec_decode_num_drafts_total counter\nvllm:spec_decode_num_drafts_total{{{label}}} {drafts}.0\n\
             vllm:spec_decode_num_drafts_created{{{label}}} 1.7e+09\n\
             vllm:spec_decode_num_draft_tokens_total{{{label}}} {}.0\n\
             vllm:spec_decode_num_accepted_tokens_total{{{label}}} {}.0\n",
            3 * drafts,
            positions.iter().sum::<u64>()
        );
        for (at, count) in positions.iter().enumerate() {
            let series = "vllm:spec_decode_num_accepted_tokens_per_pos_total";
            text +=
                &[series, "{", &label, ",position=\"", &at.to_string(), "\"} ", &count.to_string(), ".0\n"]
                    .concat();
        }
        text
    }

    #[test]
    fn two_dumps_make_a_difference_and_one_is_since_boot() {
        let (found, summary) = import(&(dump(0, 100, [80, 50, 20]) + &dump(0, 397, [328, 202, 84])));
        assert_eq!(found.len(), 2);
        assert!(found[0].since_boot && !found[1].since_boot);
        let counted = found[1].counted.as_ref().expect("counters");
        assert_eq!(
            (counted.drafts, counted.accepted, counted.positions.clone()),
            (297, 464, vec![248, 152, 64])
        );
        assert!(summary.warnings.is_empty());
        let (found, _) = import(&dump(0, 100, [80, 50, 20]));
        assert!(found.len() == 1 && found[0].since_boot);
    }

    #[test]
    fn engines_add_up_and_restarts_make_no_interval() {
        let both = |a, b| dump(0, a, [a, 0, 0]) + &dump(1, b, [b, b, 0]);
        let (found, _) = import(&(both(10, 20) + &both(30, 50)));
        assert_eq!(found[1].counted.as_ref().expect("counters").positions, [50, 30, 0]);
        let (found, summary) = import(&(dump(0, 100, [80, 50, 20]) + &dump(0, 10, [8, 5, 2])));
        assert_eq!(found.len(), 1);
        assert_eq!(summary.warnings["counters"].count, 1);
    }

    /// Found by fuzzing: an accept length beyond k + 1.
    #[test]
    fn more_accepted_than_drafted_makes_no_interval() {
        let text = dump(0, 100, [80, 50, 20]).replace(" 300.0", " 100.0");
        let (found, summary) = import(&text);
        assert!(found.is_empty() && summary.warnings["counters"].count == 1, "{summary:?}");
        let (found, _) = import("sglang:spec_accept_length{model_name=\"m\"} 1e12\n");
        assert!(found.is_empty());
    }

    /// Found by fuzzing: such counters made the fit of acceptance search without end, or overflow.
    #[test]
    fn counters_beyond_what_can_be_counted_are_refused() {
        let (found, summary) = import(&dump(0, 3_000_000_000_000_000_000, [2_000_000_000_000_000_000, 5, 2]));
        assert!(found.is_empty() && summary.skipped.count >= 2, "{summary:?}");
        let engines: String = (0..3).map(|engine| dump(engine, 1 << 52, [1 << 52, 1 << 52, 0])).collect();
        let (found, summary) = import(&engines);
        assert!(found.is_empty() && summary.warnings["counters"].count == 1, "{summary:?}");
    }

    #[test]
    fn gauges_of_sglang_tell_a_cycle() {
        let text = "# TYPE sglang:spec_accept_length gauge\nsglang:spec_accept_length{model_name=\"m\"} 2.94\n\
                    sglang:gen_throughput{model_name=\"m\"} 2849.4\nsglang:num_running_reqs{model_name=\"m\"} 48.0\n\
                    sglang:num_running_reqs{model_name=\"m\" 4x\n";
        let (found, summary) = import(text);
        assert!((found[0].cycle().expect("known").0.ms() - 49.5).abs() < 0.05);
        assert_eq!(summary.skipped.count, 1);
        let (found, _) = import("trtllm_spec_decode_acceptance_length 2.5\n");
        assert_eq!((found[0].server, found[0].cycle()), (Server::TensorRt, None));
    }
}

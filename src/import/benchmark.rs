//! Results of benchmarks of a server: SGLang `bench_serving` and `bench_one_batch_server` (JSON lines), `vllm bench serve`
//! (JSON), SpecForge `bench_eagle3.py`.
//!
//! Sources: sgl-project/sglang `python/sglang/bench_serving.py`; vllm-project/vllm `vllm/benchmarks/serve.py`;
//! sgl-project/SpecForge @1d66672 `benchmarks/bench_eagle3.py`. Throughput is of output tokens over the whole run, prefill
//! included. What a client calls ITL may be the time between two chunks, each of several tokens: told apart by TPOT.

mod fields;
mod sglang;
mod specforge;
mod vllm;

use std::collections::BTreeMap;
use std::io::BufRead;

use serde::Serialize;

use self::fields::{Fields, LONGEST};
use super::serving::objects;
use super::{Observation, Sink, Summary, What};
use crate::units::{AcceptLength, Seconds, TokensPerSecond};

pub(super) use sglang::SGLANG;
pub(super) use specforge::SPECFORGE;
pub(super) use vllm::VLLM;

/// One result.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Benchmark {
    /// Whether someone who knows says that it ran with speculation; the result itself may not tell.
    pub said_to_speculate: bool,
    /// `bench_serving`, `bench_one_batch_server`, `vllm bench serve` or `SpecForge`.
    pub tool: &'static str,
    /// `sglang` or `vllm`, where it is told.
    pub runtime: Option<&'static str>,
    /// The model, as named.
    pub model: Option<String>,
    /// Name of the run, tag or workload.
    pub name: Option<String>,
    /// Requests that ran together: a limit of the client.
    pub concurrency: Option<f64>,
    /// Requests that were answered.
    pub completed: Option<u64>,
    /// Length of the run.
    pub duration: Option<Seconds>,
    /// Tokens of all prompts.
    pub input_tokens: Option<u64>,
    /// Tokens of all outputs.
    pub output_tokens: Option<u64>,
    /// Output tokens per second over all requests.
    pub throughput: Option<TokensPerSecond>,
    /// Tokens gained per cycle and request, bonus included; none without speculation.
    pub accept_length: Option<AcceptLength>,
    /// Draft/verify cycles, drafted and accepted tokens, where they were counted.
    pub drafts: Option<u64>,
    /// Drafted tokens.
    pub drafted: Option<u64>,
    /// Accepted tokens of them.
    pub accepted: Option<u64>,
    /// Share of drafts accepted at each position or further.
    pub cumulative: Vec<f64>,
    /// Draft steps, branches, rows with root, where they are told; steps 0: none drafted.
    pub steps: Option<u32>,
    /// Branches per step.
    pub topk: Option<u32>,
    /// Rows verified per request.
    pub draft_tokens: Option<u32>,
    /// Tensor-parallel size.
    pub tensor: Option<u32>,
    /// Statistics of times \[ms\], as `mean_tpot_ms`.
    pub latencies_ms: BTreeMap<String, f64>,
}

impl Benchmark {
    /// Whether tokens were drafted, by what the result tells or by what is known of it.
    pub fn speculates(&self) -> bool {
        self.said_to_speculate
            || self.accept_length.is_some_and(|length| length.get() > 1.0)
            || self.steps.is_some_and(|steps| steps > 0)
    }
}

/// Reads results, one JSON object after the other; one without throughput is skipped.
fn read_results(
    input: &mut dyn BufRead,
    sink: &mut Sink,
    ignored: &[&str],
    result: impl Fn(&mut Fields, u64, &mut Summary) -> Benchmark,
) -> Summary {
    let mut noted = Summary::default();
    let mut summary = objects::each_up_to(LONGEST, input, |line, value| {
        let mut fields = Fields::new(value.as_object().ok_or("no object")?);
        let found = result(&mut fields, line, &mut noted);
        fields.unknown(ignored, &mut noted);
        if found.throughput.is_none() {
            return Err("no `output_throughput` in it".to_owned());
        }
        sink(Observation::at(line, What::Benchmark(Box::new(found))));
        Ok(true)
    });
    summary.warnings.append(&mut noted.warnings);
    summary.unknown = noted.unknown;
    summary
}

#[cfg(test)]
mod tests;

//! The keys of `simulation.serving` as the simulator of requests wants them.

use std::fs::File;
use std::sync::Arc;

use super::memory::kv_memory;
use super::settings::Settings;
use crate::diagnostic::{Code, Diagnostic};
use crate::runtime::RuntimeKind;
use crate::scenario::layer::Layer;
use crate::scenario::written::{ArrivalWord, LengthWord, RouterWord, ServingKeys};
use crate::scenario::{ModelledSetup, Scenario};
use crate::serving::{
    Arrivals, Drafting, DraftingRow, Kv, Length, Lengths, Routing, ServingConfig, Slo, Trace,
};
use crate::units::Seconds;

/// Spread of lognormal lengths where none is given.
const VARIATION: f64 = 0.5;
/// Output tokens where none are given.
const OUTPUT: u32 = 256;

/// What is simulated with speculation, and remarks on what was assumed. Without speculation it is the same without
/// `drafting`.
///
/// # Errors
/// What is missing or cannot be, at its place in the file.
pub fn serving_config(
    setup: &ModelledSetup,
    scenario: &Scenario,
    over: Settings,
) -> Result<(ServingConfig, Vec<String>), Box<Diagnostic>> {
    let layer = scenario.variation.as_ref().unwrap_or(&scenario.base);
    let keys = &layer.written.simulation.serving;
    let mut notes = Vec::new();
    let arrivals = arrivals(layer, keys)?;
    let trace = trace(layer, scenario, keys)?;
    let max_requests = keys.max_requests.unwrap_or_else(|| {
        let limit = limit(setup.runtime.kind);
        notes.push(format!("max_requests not given: {limit}, the limit of the server"));
        limit
    });
    let block_size = keys.block_size.unwrap_or(16);
    let blocks = match keys.kv_blocks {
        Some(blocks) => blocks,
        None => blocks(setup, layer, block_size, &mut notes)?,
    };
    let default = ServingConfig::default();
    let config = ServingConfig {
        arrivals,
        lengths: lengths(keys, setup.context),
        requests: keys.arrivals.requests.map_or(default.requests, u64::from),
        trace,
        max_requests,
        token_budget: keys.token_budget.unwrap_or(default.token_budget),
        kv: Kv { blocks, block_size },
        replicas: keys.replicas.unwrap_or(1),
        router: match keys.router.unwrap_or(RouterWord::RoundRobin) {
            RouterWord::RoundRobin => Routing::RoundRobin,
            RouterWord::LeastRequests => Routing::LeastRequests,
            RouterWord::Random => Routing::Random,
        },
        drafting: Some(drafting(setup, keys)),
        slo: Slo {
            ttft: keys.slo.ttft.map(|t| t.0.value),
            tpot: keys.slo.tpot.map(|t| t.0.value),
            itl: keys.slo.itl.map(|t| t.0.value),
            e2e: keys.slo.e2e.map(|t| t.0.value),
        },
        horizon: None,
        seed: over.seed.or(layer.written.simulation.seed).unwrap_or(default.seed),
        keep_records: false,
    };
    match config.check() {
        Ok(()) => Ok((config, notes)),
        Err(error) => Err(fault(
            Code::Contradiction,
            layer,
            "simulation.serving",
            error.to_string(),
            "cannot be simulated",
        )),
    }
}

/// Requests that servers run together by default: SGLang with speculation 48, vLLM 256 (`--max-num-seqs`).
const fn limit(kind: RuntimeKind) -> u32 {
    match kind {
        RuntimeKind::Vllm => 256,
        RuntimeKind::Sglang | RuntimeKind::Pytorch | RuntimeKind::Cuda => 48,
    }
}

fn arrivals(layer: &Layer, keys: &ServingKeys) -> Result<Arrivals, Box<Diagnostic>> {
    let keys = &keys.arrivals;
    let process = keys.process.unwrap_or(if keys.file.is_some() && keys.interval.is_none() {
        ArrivalWord::Trace
    } else {
        ArrivalWord::Poisson
    });
    let interval = || -> Result<Seconds, Box<Diagnostic>> {
        keys.interval.map(|interval| interval.0.value).ok_or_else(|| {
            let title = "`simulation.serving.arrivals.interval` is missing: when do requests arrive?";
            let fault = fault(Code::Incomplete, layer, "simulation.serving.arrivals", title.to_owned(), "no interval");
            Box::new(fault.help(
                "set it, as with --set 'simulation.serving.arrivals.interval=2 s', or simulate users who wait for their \
                 answers: --set simulation.serving.arrivals.process=closed --set simulation.serving.arrivals.users=8",
            ))
        })
    };
    Ok(match process {
        ArrivalWord::Poisson => Arrivals::Poisson { interval: interval()? },
        ArrivalWord::Gamma => {
            Arrivals::Gamma { interval: interval()?, variation: keys.variation.unwrap_or(1.0) }
        }
        ArrivalWord::Constant => Arrivals::Constant { interval: interval()? },
        ArrivalWord::Trace => Arrivals::Trace,
        ArrivalWord::Closed => Arrivals::Closed { users: keys.users.unwrap_or(1) },
    })
}

fn lengths(keys: &ServingKeys, context: u32) -> Lengths {
    let keys = &keys.lengths;
    let (prompt, output) = (keys.prompt.unwrap_or(context), keys.output.unwrap_or(OUTPUT));
    let variation = keys.variation.unwrap_or(VARIATION);
    let lognormal = |tokens: u32| Length::Lognormal { mean: f64::from(tokens), variation };
    match keys.distribution.unwrap_or(LengthWord::Fixed) {
        LengthWord::Fixed => Lengths::Drawn { prompt: Length::Fixed(prompt), output: Length::Fixed(output) },
        LengthWord::Lognormal => Lengths::Drawn { prompt: lognormal(prompt), output: lognormal(output) },
        LengthWord::Trace => Lengths::Trace,
    }
}

/// The recorded requests, where arrivals or lengths come from them.
fn trace(
    layer: &Layer,
    scenario: &Scenario,
    keys: &ServingKeys,
) -> Result<Option<Arc<Trace>>, Box<Diagnostic>> {
    let at = "simulation.serving.arrivals.file";
    let wanted = keys.arrivals.process == Some(ArrivalWord::Trace)
        || keys.lengths.distribution == Some(LengthWord::Trace);
    let Some(name) = &keys.arrivals.file else {
        if wanted {
            let title = format!("`{at}` is missing: which recorded requests?");
            let fault = fault(Code::Incomplete, layer, "simulation.serving", title, "asks for a trace");
            return Err(Box::new(
                fault.help("name a CSV with the columns arrival_s, prompt_tokens, output_tokens"),
            ));
        }
        return Ok(None);
    };
    let path = scenario.beside(name);
    let file = File::open(&path).map_err(|error| {
        fault(
            Code::ReferencedFile,
            layer,
            at,
            format!("cannot read {}: {error}", path.display()),
            "this file",
        )
    })?;
    let read = Trace::read(file);
    read.map(|trace| Some(Arc::new(trace))).map_err(|error| {
        fault(Code::ReferencedFile, layer, at, format!("{}: {error}", path.display()), "this file")
    })
}

fn blocks(
    setup: &ModelledSetup,
    layer: &Layer,
    block_size: u32,
    notes: &mut Vec<String>,
) -> Result<u32, Box<Diagnostic>> {
    let memory = kv_memory(setup);
    if memory.tokens == 0 {
        let title = format!(
            "nothing is left for KV blocks: {} of weights a GPU, and 0.9 of {} may be used (assumed)",
            memory.weights, setup.hardware.gpu.memory
        );
        let fault = fault(Code::Incomplete, layer, "hardware", title, "of these GPUs");
        return Err(Box::new(fault.help("set simulation.serving.kv_blocks, or use more GPUs")));
    }
    notes.push(format!(
        "kv_blocks not given: 0.9 of {} a GPU (assumed) less {} of weights leaves {}, {} tokens",
        setup.hardware.gpu.memory,
        memory.weights,
        memory.left,
        crate::units::significant(memory.tokens as f64, 3),
    ));
    Ok(memory.blocks(block_size))
}

fn drafting(setup: &ModelledSetup, keys: &ServingKeys) -> Drafting {
    let shape = crate::evaluate::shape(setup);
    let law = setup.common.acceptance.clone();
    match keys.speculate_up_to {
        None => Drafting::fixed(law, shape),
        Some(most) => {
            let rows = vec![
                DraftingRow { from_batch: 1, shape: Some(shape) },
                DraftingRow { from_batch: most.saturating_add(1), shape: None },
            ];
            Drafting::by_batch(law, rows).expect("1 and a later batch rise")
        }
    }
}

/// An error at the place of a key, or at the file as a whole where it is not written.
#[expect(clippy::unnecessary_box_returns, reason = "every caller returns it boxed")]
fn fault(code: Code, layer: &Layer, key: &str, title: String, remark: &str) -> Box<Diagnostic> {
    let diagnostic = Diagnostic::error(code, title);
    Box::new(match layer.tree.at(key) {
        Some(node) => diagnostic.at(&node.place, remark),
        None => diagnostic,
    })
}

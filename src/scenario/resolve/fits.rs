//! Whether the model can run on the box as the scenario divides it.

use super::Resolver;
use super::remarks;
use crate::calibration::Calibration;
use crate::diagnostic::{Code, Diagnostic};
use crate::forward::Parallelism;
use crate::hardware::Hardware;
use crate::model::{Attention, Draft, Model};
use crate::scenario::layer::Layer;
use crate::scenario::library::Library;
use crate::scenario::setup::ModelledSetup;
use crate::scenario::written::TransportWord;
use crate::units::Bytes;

/// Share of the memory that servers keep for activations, CUDA graphs and themselves: vLLM's default of
/// `--gpu-memory-utilization` is 0.9, SGLang's `--mem-fraction-static` is near it.
const RESERVE: f64 = 0.1;

/// What has to fit.
pub(super) struct Fit<'a> {
    pub hardware: &'a Hardware,
    pub model: &'a Model,
    pub draft: Option<&'a Draft>,
    pub parallel: Parallelism,
    pub context: u32,
}

impl Resolver<'_, '_> {
    /// NVLink is a transport only where GPUs have it.
    pub(super) fn check_transport(&mut self, layer: &Layer, hardware: &Hardware) {
        if hardware.gpu.nvlink.is_some() {
            return;
        }
        let (written, speculation) = (&layer.written, &layer.written.speculation);
        for (pass, keys) in [
            ("baseline", &written.baseline.allreduce),
            ("speculation.verify", &speculation.verify.allreduce),
            ("speculation.draft_pass", &speculation.draft_pass.allreduce),
        ] {
            if keys.transport == TransportWord::Nvlink {
                let title = format!("{} has no NVLink", hardware.name);
                let diagnostic = Diagnostic::error(Code::Contradiction, title);
                let path = format!("{pass}.allreduce.transport");
                let diagnostic = layer.at(diagnostic, &path, "bytes cannot travel so");
                let diagnostic = layer.beside(diagnostic, "hardware", &format!("{} GPUs", hardware.gpu.name));
                self.found.push(diagnostic.help("use `p2p` or `shm`, or leave the transport to the server"));
            }
        }
    }

    pub(super) fn check_fit(&mut self, layer: &Layer, fit: &Fit) {
        let before = self.found.list.len();
        self.check_ranks(layer, fit.hardware, fit.parallel);
        self.check_heads(layer, fit.model, fit.parallel);
        if self.found.list.len() == before {
            self.check_memory(layer, fit);
        }
    }

    fn check_ranks(&mut self, layer: &Layer, hardware: &Hardware, parallel: Parallelism) {
        if parallel.tensor > hardware.count {
            let title = format!("{} ranks on {} GPUs", parallel.tensor, hardware.count);
            let diagnostic = Diagnostic::error(Code::Ranks, title);
            let diagnostic = layer.at(diagnostic, "parallel.tensor", "each rank needs a GPU of its own");
            let remark = format!("has {} GPUs", hardware.count);
            self.found.push(layer.beside(diagnostic, "hardware", &remark));
        }
        let within = [
            ("expert", parallel.expert),
            ("data_attention", parallel.data_attention),
            ("decode_context", parallel.decode_context),
        ];
        for (key, size) in within {
            if !parallel.tensor.is_multiple_of(size) {
                let title =
                    format!("`{key}` {size} does not divide the {} ranks of `tensor`", parallel.tensor);
                let diagnostic = Diagnostic::error(Code::TensorParallel, title);
                let diagnostic = layer.at(diagnostic, &format!("parallel.{key}"), "must divide `tensor`");
                self.found.push(layer.beside(diagnostic, "parallel.tensor", ""));
            }
        }
    }

    fn check_heads(&mut self, layer: &Layer, model: &Model, parallel: Parallelism) {
        let ranks = (parallel.tensor / parallel.data_attention.max(1)).max(1);
        let Some((heads, noun)) = uneven_heads(model, ranks) else { return };
        let title =
            format!("tensor-parallel size {ranks} does not divide the {heads} {noun} of {}", model.name);
        let diagnostic = Diagnostic::error(Code::TensorParallel, title);
        let sizes: Vec<String> =
            (1..=heads).filter(|n| heads % n == 0 && *n <= 16).map(|n| n.to_string()).collect();
        let remark = format!("sizes that do: {}", sizes.join(", "));
        let diagnostic = match layer.place("parallel.tensor") {
            Some(place) => diagnostic.at(place, remark),
            None => layer.at(diagnostic, "hardware", "all its GPUs are used").note(remark),
        };
        self.found.push(layer.beside(diagnostic, "model", ""));
    }

    /// Weights and KV cache of one GPU against its memory: a lower bound of what a server needs.
    fn check_memory(&mut self, layer: &Layer, fit: &Fit) {
        let Fit { hardware, model, parallel, context, .. } = *fit;
        let batch = layer.written.workload.batch.unwrap_or(1);
        let [weights, kv] =
            needs(self.library, model, fit.draft, parallel, f64::from(batch) * f64::from(context));
        let all = weights.get() * f64::from(parallel.tensor.max(1));
        let memory = self.library.memory(hardware);
        let needed = Bytes::new(weights.get() + kv.get());
        if needed.get() <= memory.get() {
            if needed.get() > memory.get() * (1.0 - RESERVE) {
                self.note(format!(
                    "{} fills {:.0} % of each GPU's {memory} with weights and KV cache: servers keep about {:.0} % for \
                     activations, CUDA graphs and the runtime (assumed), so they may refuse it",
                    model.name,
                    100.0 * needed.get() / memory.get(),
                    100.0 * RESERVE
                ));
            }
            return;
        }
        let title = format!("{} does not fit: {needed} a GPU, and each has {memory}", model.name);
        let diagnostic = Diagnostic::error(Code::Memory, title);
        let remark = format!("{weights} of weights and {kv} of KV cache on each of {} GPUs", parallel.tensor);
        let diagnostic = layer.at(diagnostic, "model", &remark);
        let diagnostic = layer.beside(diagnostic, "hardware", &format!("{memory} a GPU"));
        let diagnostic = if kv.get() > weights.get() {
            layer.beside(
                diagnostic,
                "workload.context",
                &format!("{batch} request{} of this length", if batch == 1 { "" } else { "s" }),
            )
        } else {
            layer.beside(diagnostic, "parallel.tensor", "")
        };
        let help = if weights.get() > memory.get() {
            format!(
                "use at least {} GPUs, or narrower weights such as `model: {{ preset: {}, weights: int4-g128 }}`",
                (all / memory.get()).ceil().max(1.0).log2().ceil().exp2(),
                model.name
            )
        } else {
            "use a smaller batch or context, more GPUs, or an fp8 KV cache".to_owned()
        };
        let diagnostic = diagnostic.note("nothing is kept back for activations, CUDA graphs and the runtime");
        self.found.push(diagnostic.help(help));
    }
}

/// Heads that so many ranks cannot share, and what they are.
fn uneven_heads(model: &Model, ranks: u32) -> Option<(u32, &'static str)> {
    model.layers.iter().find_map(|group| match &group.layer.attention {
        Attention::Gqa(gqa) if !gqa.heads.is_multiple_of(ranks) => Some((gqa.heads, "query heads")),
        Attention::Gqa(gqa) if uneven_pair(gqa.kv_heads, ranks) => Some((gqa.kv_heads, "key/value heads")),
        Attention::Mla(mla) if !mla.heads.is_multiple_of(ranks) => Some((mla.heads, "query heads")),
        Attention::Linear(linear) if !linear.value_heads.is_multiple_of(ranks) => {
            Some((linear.value_heads, "value heads"))
        }
        _ => None,
    })
}

/// Weights and KV cache of one GPU with so many tokens in all.
fn needs(
    library: &dyn Library,
    model: &Model,
    draft: Option<&Draft>,
    parallel: Parallelism,
    tokens: f64,
) -> [Bytes; 2] {
    let drafter = draft.map_or(Bytes::ZERO, |draft| library.draft_resident(draft));
    let all = library.resident(model).get() + drafter.get();
    let kv = library.kv_per_token(model).get() * tokens / kv_shares(model, parallel);
    [Bytes::new(all / f64::from(parallel.tensor.max(1))), Bytes::new(kv)]
}

/// Why a box cannot run a model as a setup divides it, for one that no scenario describes; the faults are those that a
/// scenario of the same content has.
pub fn misfit(setup: &ModelledSetup, library: &dyn Library) -> Option<String> {
    let ModelledSetup { hardware, model, parallel, .. } = setup;
    let (ranks, count) = (parallel.tensor, hardware.count);
    if ranks > count {
        return Some(format!("{ranks} ranks on {count} GPUs"));
    }
    if !ranks.is_multiple_of(parallel.decode_context) {
        return Some(format!(
            "`decode_context` {} does not divide the {ranks} ranks",
            parallel.decode_context
        ));
    }
    if let Some((heads, noun)) = uneven_heads(model, ranks) {
        return Some(format!(
            "tensor-parallel size {ranks} does not divide the {heads} {noun} of {}",
            model.name
        ));
    }
    let tokens = f64::from(setup.common.batch) * f64::from(setup.context);
    let [weights, kv] = needs(library, model, setup.draft.as_deref(), *parallel, tokens);
    let (needed, memory) = (Bytes::new(weights.get() + kv.get()), library.memory(hardware));
    (needed.get() > memory.get())
        .then(|| format!("{} does not fit: {needed} a GPU, and each has {memory}", model.name))
}

/// That tables were measured on another GPU than that of the box, where both are known.
pub fn foreign(hardware: &Hardware, calibration: &Calibration) -> Option<String> {
    remarks::foreign_calibration(hardware, calibration)
}

/// Whether heads can be neither divided evenly among ranks nor repeated evenly on them.
fn uneven_pair(heads: u32, ranks: u32) -> bool {
    !heads.is_multiple_of(ranks) && !ranks.is_multiple_of(heads.max(1))
}

/// Among how many GPUs the KV cache of one request is divided: KV heads as far as they go, a latent cache only by position.
fn kv_shares(model: &Model, parallel: Parallelism) -> f64 {
    let ranks = (parallel.tensor / parallel.data_attention.max(1)).max(1);
    let heads = model.layers.iter().find_map(|group| match &group.layer.attention {
        Attention::Gqa(gqa) => Some(gqa.kv_heads),
        Attention::Mla(_) => Some(1),
        Attention::Linear(_) => None,
    });
    let by_heads = heads.unwrap_or(1).clamp(1, ranks);
    f64::from(by_heads.max(parallel.decode_context)) * f64::from(parallel.data_attention)
}

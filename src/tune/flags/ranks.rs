//! How the ranks divide the model, as flags: what was priced, or why the server cannot do it.
//!
//! SGLang: `--ep-size`, `--dp-size`, `--enable-dp-attention` (`docs/advanced_features/server_arguments.md` @004813e, and
//! docs.sglang.io `cookbook/base/reference/server_arguments`), `--dcp-size` (docs.sglang.io
//! `docs/advanced_features/dcp.md`); n-gram lookup does not go with `--enable-dp-attention`
//! (`docs/advanced_features/speculative_decoding.md` @067ad4d).
//! vLLM: `--data-parallel-size`, by default one tensor-parallel group of all ranks for the experts, `--max-num-seqs` per
//! data-parallel rank (`docs/serving/data_parallel_deployment.md` @01e4fce); `--enable-expert-parallel`, experts over all
//! ranks (`docs/serving/expert_parallel_deployment.md` @0170256); `--decode-context-parallel-size`
//! (`docs/serving/context_parallel_deployment.md` @020505c).

use crate::scenario::{Method, ModelledSetup};

/// Flags, and what to know about them.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    pub flags: Vec<String>,
    pub notes: Vec<String>,
}

/// Requests of `most` that one attention replica holds.
pub(super) fn share(setup: &ModelledSetup, most: u32) -> u32 {
    most.div_ceil(setup.parallel.data_attention.max(1))
}

/// SGLang's flags; `method` is the drafting method, if any.
pub(super) fn sglang(setup: &ModelledSetup, method: Option<Method>) -> Result<Ranks, String> {
    let parallel = setup.parallel;
    let mut ranks = Ranks { flags: vec![format!("--tp-size {}", parallel.tensor)], ..Ranks::default() };
    if parallel.expert > 1 {
        ranks.flags.push(format!("--ep-size {}", parallel.expert));
    }
    if parallel.data_attention > 1 {
        if method == Some(Method::Ngram) {
            return Err(
                "SGLang's n-gram lookup does not go with `--enable-dp-attention`, which was priced: no \
                        command does this."
                    .to_owned(),
            );
        }
        ranks.flags.push(format!("--dp-size {}", parallel.data_attention));
        ranks.flags.push("--enable-dp-attention".to_owned());
        ranks.notes.push(
            "`--enable-dp-attention` exists for some models only (DeepSeek, Qwen with experts, later others)."
                .to_owned(),
        );
    }
    if parallel.decode_context > 1 {
        ranks.flags.push(format!("--dcp-size {}", parallel.decode_context));
        ranks.notes.push(
            "`--dcp-size` is new in SGLang and divides a latent (MLA) cache only: look for it in `--help`."
                .to_owned(),
        );
    }
    Ok(ranks)
}

/// vLLM's flags: its tensor-parallel size counts the ranks of one attention replica.
pub(super) fn vllm(setup: &ModelledSetup) -> Result<Ranks, String> {
    let parallel = setup.parallel;
    let replicas = parallel.data_attention.max(1);
    let tensor = (parallel.tensor / replicas).max(1);
    if parallel.expert > 1 && parallel.expert != parallel.tensor {
        return Err(format!(
            "vLLM divides the experts among all ranks or by width: `parallel.expert` {} of {} ranks, which was \
             priced, is no setting of it. Price {} or 1.",
            parallel.expert, parallel.tensor, parallel.tensor
        ));
    }
    if !tensor.is_multiple_of(parallel.decode_context.max(1)) {
        return Err(format!(
            "vLLM shares a cache among the {tensor} ranks of one attention replica at most: \
             `parallel.decode_context` {}, which was priced, is no setting of it.",
            parallel.decode_context
        ));
    }
    let mut ranks = Ranks { flags: vec![format!("--tensor-parallel-size {tensor}")], ..Ranks::default() };
    if replicas > 1 {
        ranks.flags.push(format!("--data-parallel-size {replicas}"));
        ranks.notes.push(
            "`--max-num-seqs` counts per data-parallel rank. Only models with experts share their other layers \
             among these ranks; vLLM replicates a model without experts, which is not what was priced."
                .to_owned(),
        );
    }
    if parallel.expert > 1 {
        ranks.flags.push("--enable-expert-parallel".to_owned());
    }
    if parallel.decode_context > 1 {
        ranks.flags.push(format!("--decode-context-parallel-size {}", parallel.decode_context));
    }
    Ok(ranks)
}

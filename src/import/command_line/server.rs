//! What a command line says of a server, in one vocabulary for all of them.

use serde::Serialize;

use super::flags::Unread;
use crate::diagnostic::masked;

/// A server as its command line sets it up. What is not said is none: the server's default.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ServerCommand {
    /// `sglang` or `vllm`.
    pub server: &'static str,
    /// The model, as named: a Hugging Face name or a path.
    pub model: Option<String>,
    /// Tensor-parallel size.
    pub tensor: Option<u32>,
    /// Expert-parallel size.
    pub expert: Option<u32>,
    /// Replicas of the attention.
    pub data_attention: Option<u32>,
    /// Whole replicas of the server.
    pub replicas: Option<u32>,
    /// GPUs that share a KV cache by position.
    pub decode_context: Option<u32>,
    /// Storage of weights, in specplan's words.
    pub weights: Option<&'static str>,
    /// Storage of the KV cache, in specplan's words.
    pub kv: Option<&'static str>,
    /// Speculation, if it is switched on.
    pub drafting: Option<Drafting>,
    /// Requests that may run together.
    pub max_requests: Option<u32>,
    /// Tokens of one step.
    pub token_budget: Option<u32>,
    /// Tokens of one KV block.
    pub block_size: Option<u32>,
    /// Whether decoding is replayed from CUDA graphs.
    pub graph: Option<bool>,
    /// The largest batch that a graph is captured for.
    pub graph_max_batch: Option<u32>,
    /// Whether the scheduler prepares the next cycle while the GPUs work.
    pub overlap: Option<bool>,
    /// All-reduce implementations that are switched on, in specplan's words.
    pub allreduce: Vec<&'static str>,
    /// NCCL_* variables.
    pub environment: Vec<(String, String)>,
    /// Flags whose values cannot be read: what they set is not known, and no default stands in.
    pub unread: Vec<Unread>,
    /// Flags that made the above.
    pub used: Vec<String>,
    /// Flags and variables that change nothing here: specplan does not model them.
    pub not_modelled: Vec<String>,
}

/// Speculation as a command line sets it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Drafting {
    /// The server's word.
    pub algorithm: String,
    /// specplan's word; none: an algorithm that it does not model.
    pub method: Option<&'static str>,
    /// The drafter, as named.
    pub draft: Option<String>,
    /// Draft steps: the longest drafted chain.
    pub steps: Option<u32>,
    /// Branches per step.
    pub topk: Option<u32>,
    /// Rows verified per request, root included.
    pub draft_tokens: Option<u32>,
    /// Drafted tokens by batch size: from, to, tokens.
    pub by_batch: Vec<(u32, u32, u32)>,
}

impl ServerCommand {
    /// What stands behind a flag of one of these names, if it cannot be read.
    pub fn unread(&self, names: &[&str]) -> Option<&Unread> {
        self.unread.iter().find(|unread| names.contains(&unread.flag.as_str()))
    }

    /// Sorts variables: NCCL_* are kept, those of the servers and of CUDA are listed, others are no matter of ours.
    pub(super) fn take_environment(&mut self, environment: Vec<(String, String)>, known: &[&str]) {
        for (name, value) in environment {
            let ours = name.strip_prefix("NCCL_").is_some_and(|rest| {
                !rest.is_empty()
                    && rest.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
            });
            if ours {
                self.environment.retain(|(other, _)| *other != name);
                self.environment.push((name, value));
            } else if known.contains(&name.as_str()) {
                self.used.push(name);
            } else if ["SGLANG_", "SGL_", "VLLM_", "CUDA_", "TORCH_"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
            {
                self.not_modelled.push(masked(&format!("{name}={value}")).into_owned());
            }
        }
    }
}

/// Words for four bits a weight whose group size only the checkpoint tells; 128 is what AWQ and GPTQ write unless told.
const INT4: [&str; 10] = [
    "awq",
    "awq_marlin",
    "gptq",
    "gptq_marlin",
    "marlin",
    "moe_wna16",
    "auto-round",
    "inc",
    "w4afp8",
    "int4",
];

/// What is taken for granted of a word for quantisation.
pub(super) fn assumed_of(word: &str) -> Option<String> {
    let int4 = INT4.contains(&word);
    int4.then(|| format!("--quantization {word}: taken as int4-g128; the group size stands in config.json"))
}

/// Storage of weights by the servers' words for quantisation.
pub(super) fn weights_word(word: &str) -> Option<&'static str> {
    match word {
        "fp8" | "w8a8_fp8" | "modelopt_fp8" | "fbgemm_fp8" | "ptpc_fp8" => Some("fp8"),
        "w8a8_int8" | "blockwise_int8" | "experts_int8" => Some("int8"),
        word if INT4.contains(&word) => Some("int4-g128"),
        "mxfp4" => Some("mxfp4"),
        "modelopt_fp4" | "petit_nvfp4" | "nvfp4" | "modelopt" => Some("nvfp4"),
        _ => None,
    }
}

/// Storage of the KV cache by the servers' words; `auto` says nothing.
pub(super) fn kv_word(word: &str) -> Option<&'static str> {
    match word {
        word if word.starts_with("fp8") => Some("fp8"),
        "bfloat16" | "bf16" => Some("bf16"),
        _ => None,
    }
}

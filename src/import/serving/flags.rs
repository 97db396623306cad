//! Flags that a server prints when it starts, as far as acceptance needs them.
//!
//! SGLang prints `server_args=ServerArgs(model_path='..', speculative_num_steps=3, ...)`, vLLM
//! `non-default args: {'model': '..', 'speculative_config': {'method': 'eagle3', 'num_speculative_tokens': 3}}`.

use serde::Serialize;

/// What a start line says about drafting and batching. Nothing is assumed where it is silent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ServerFlags {
    /// SGLang's `speculative_algorithm`, vLLM's `method`.
    pub method: Option<String>,
    /// Draft steps; vLLM's `num_speculative_tokens`.
    pub steps: Option<u32>,
    /// Branches per step.
    pub topk: Option<u32>,
    /// Rows per verify pass, root included.
    pub draft_tokens: Option<u32>,
    /// Tensor-parallel size.
    pub tensor_parallel: Option<u32>,
    /// Decode passes between two lines.
    pub log_interval: Option<u32>,
    /// Largest batch with a CUDA graph.
    pub graph_limit: Option<u32>,
    /// Whether acceptance was forced: a synthetic run.
    pub synthetic: bool,
}

impl ServerFlags {
    /// From SGLang's start line.
    pub(super) fn sglang(text: &str) -> Self {
        let word = |key: &str| value(text, key).filter(|word| *word != "None");
        let number = |key: &str| word(key)?.parse().ok();
        Self {
            method: word("speculative_algorithm").map(str::to_owned),
            steps: number("speculative_num_steps"),
            topk: number("speculative_eagle_topk"),
            draft_tokens: number("speculative_num_draft_tokens"),
            tensor_parallel: number("tp_size"),
            log_interval: number("decode_log_interval"),
            graph_limit: number("cuda_graph_max_bs"),
            synthetic: false,
        }
    }

    /// From vLLM's start line.
    pub(super) fn vllm(text: &str) -> Self {
        let number = |key: &str| value(text, key)?.parse().ok();
        let steps: Option<u32> = number("num_speculative_tokens");
        Self {
            method: steps.and_then(|_| value(text, "method")).map(str::to_owned),
            steps,
            topk: None,
            draft_tokens: steps.and_then(|k| k.checked_add(1)),
            tensor_parallel: number("tensor_parallel_size"),
            log_interval: None,
            graph_limit: None,
            synthetic: text.contains("synthetic_acceptance") || text.contains("'synthetic'"),
        }
    }

    /// Rows of a verify pass: as told, or those of a chain.
    pub fn rows(&self) -> Option<u32> {
        self.draft_tokens.or_else(|| self.steps.filter(|_| self.topk == Some(1))?.checked_add(1))
    }

    /// Longest drafted chain k.
    pub fn depth(&self) -> Option<u32> {
        match (self.steps, self.draft_tokens) {
            (Some(steps), Some(rows)) => Some(steps.min(rows.saturating_sub(1))),
            (steps, rows) => steps.or(rows.map(|rows| rows.saturating_sub(1))),
        }
    }
}

/// The value after `key=`, `'key': ` or `"key": `, without quotes.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut found = text.match_indices(key).filter_map(|(at, _)| {
        let starts = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let rest = text[at + key.len()..].trim_start_matches(['\'', '"']);
        let rest = rest.strip_prefix('=').or_else(|| rest.strip_prefix(':')).filter(|_| starts)?;
        let rest = rest.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        match quote {
            Some(quote) => rest[1..].split(quote).next(),
            None => rest.split([',', ')', '}', ' ']).next(),
        }
    });
    found.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_lines_of_both_servers() {
        let line = "[2025-10-22 10:20:00] server_args=ServerArgs(model_path='m', tp_size=8, speculative_algorithm='EAGLE3', \
                    speculative_draft_model_path='d', speculative_num_steps=3, speculative_eagle_topk=1, \
                    speculative_num_draft_tokens=4, decode_log_interval=40, cuda_graph_max_bs=None)";
        let flags = ServerFlags::sglang(line);
        assert_eq!((flags.steps, flags.topk, flags.draft_tokens), (Some(3), Some(1), Some(4)));
        assert_eq!((flags.method.as_deref(), flags.tensor_parallel), (Some("EAGLE3"), Some(8)));
        assert_eq!((flags.log_interval, flags.graph_limit), (Some(40), None));
        assert_eq!((flags.rows(), flags.depth()), (Some(4), Some(3)));
        let line = "INFO 10-22 10:27:57 [utils.py:1] non-default args: {'model': 'm', 'tensor_parallel_size': 4, \
                    'speculative_config': {'method': 'eagle3', 'model': 'd', 'num_speculative_tokens': 3}}";
        let flags = ServerFlags::vllm(line);
        assert_eq!((flags.steps, flags.rows(), flags.depth()), (Some(3), Some(4), Some(3)));
        assert_eq!(flags.method.as_deref(), Some("eagle3"));
        assert!(!flags.synthetic);
        assert_eq!(ServerFlags::sglang("server_args=ServerArgs(").rows(), None);
    }
}

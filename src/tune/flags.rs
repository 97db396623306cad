//! Lines to paste: flags of SGLang and vLLM that make the server do what the plan says.
//!
//! Rules: SGLang `server_args.py` and `docs/advanced_features/speculative_decoding.md` @067ad4d; vLLM's
//! `--speculative-config`; of ranks, `ranks`. Tests hold every line that can be printed to them.

mod environment;
mod ranks;
mod sglang;
mod vllm;

use super::Candidate;
use super::plan::{Cell, Plan};
use super::setting::Setting;
use crate::runtime::RuntimeKind;
use crate::scenario::ModelledSetup;

pub(super) use environment::environment_line;

/// What stands for the drafter's folder or repository in a line.
const DRAFT: &str = "DRAFT_PATH";

/// What stands for the target's folder or repository in a line.
const MODEL: &str = "MODEL_PATH";

/// A command and what to know about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paste {
    /// When to use it.
    pub title: String,
    /// The command, one flag a line, continued by backslashes.
    pub lines: Vec<String>,
    /// What to know.
    pub notes: Vec<String>,
}

/// Batch sizes that one setting serves.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    from: u32,
    to: u32,
    setting: Setting,
}

/// The commands of a plan, for the server that the scenario names; none for runtimes that are no servers.
pub fn paste(plan: &Plan, candidates: &[Candidate<'_>]) -> Vec<Paste> {
    let Some(first) = candidates.first() else { return Vec::new() };
    let mut contexts: Vec<u32> = plan.cells.iter().map(|cell| cell.context).collect();
    contexts.dedup();
    let several = contexts.len() > 1;
    let mut pastes = Vec::new();
    for context in contexts {
        let steps = staircase(plan, context);
        if steps.is_empty() {
            continue;
        }
        let fixed = plan.fixed.iter().find(|fixed| fixed.context == context);
        let mut here = match first.setup.runtime.kind {
            RuntimeKind::Sglang => sglang::paste(&steps, fixed, candidates),
            RuntimeKind::Vllm => vllm::paste(&steps, fixed, candidates),
            RuntimeKind::Pytorch | RuntimeKind::Cuda => Vec::new(),
        };
        if several {
            for paste in &mut here {
                paste.title = format!("Context {context}: {}", paste.title);
            }
        }
        pastes.extend(here);
    }
    let mut pastes = merged(pastes);
    let kept = kept(first.setup.runtime.kind);
    if let Some((paste, kept)) = pastes.iter_mut().find(|paste| !paste.lines.is_empty()).zip(kept) {
        paste.notes.push(kept);
    }
    pastes
}

/// Blocks that say the same once, under both titles.
fn merged(list: Vec<Paste>) -> Vec<Paste> {
    let mut pastes: Vec<Paste> = Vec::new();
    for paste in list {
        let says_no_more = |known: &Paste| paste.notes.iter().all(|note| known.notes.contains(note));
        match pastes.iter_mut().find(|known| known.lines == paste.lines && says_no_more(known)) {
            Some(known) => {
                known.title.push_str("; ");
                known.title.push_str(&paste.title);
            }
            None => pastes.push(paste),
        }
    }
    pastes
}

/// What a scenario does not hold and a command needs: said once, beside the first command.
fn kept(kind: RuntimeKind) -> Option<String> {
    let memory = match kind {
        RuntimeKind::Sglang => "--mem-fraction-static",
        RuntimeKind::Vllm => "--gpu-memory-utilization",
        RuntimeKind::Pytorch | RuntimeKind::Cuda => return None,
    };
    Some(format!(
        "Keep from your own command: `--trust-remote-code`, `{memory}`, `--attention-backend`, `--quantization`, \
         `--kv-cache-dtype`."
    ))
}

/// Runs of batch sizes with one best setting. Between two batch sizes that were priced the smaller one's holds, below
/// the first the first's.
fn staircase(plan: &Plan, context: u32) -> Vec<Step> {
    let priced = |cell: &&Cell| cell.context == context && cell.best().is_some();
    let mut steps: Vec<Step> = Vec::new();
    for cell in plan.cells.iter().filter(priced) {
        let setting = cell.best().expect("it was priced").setting;
        match steps.last_mut() {
            Some(last) if last.setting == setting => last.to = cell.batch,
            last => {
                let from = if last.is_some() { cell.batch } else { 1 };
                if let Some(last) = last {
                    last.to = cell.batch - 1;
                }
                steps.push(Step { from, to: cell.batch, setting });
            }
        }
    }
    steps
}

/// `batch 1 to 8`.
fn range(from: u32, to: u32) -> String {
    if from == to { format!("batch {from}") } else { format!("batch {from} to {to}") }
}

/// A command of flags, one a line; the NCCL_* variables of the scenario stand above it.
fn command(setup: &ModelledSetup, start: &str, flags: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = environment_line(setup).into_iter().collect();
    lines.push(start.to_owned());
    lines.extend(flags.iter().map(|flag| format!("  {flag}")));
    continued(&lines)
}

/// Lines joined by backslashes.
fn continued(lines: &[String]) -> Vec<String> {
    let last = lines.len().saturating_sub(1);
    let (above, end) = lines.split_at(last);
    above.iter().map(|line| format!("{line} \\")).chain(end.iter().cloned()).collect()
}

#[cfg(test)]
#[path = "flags/lines_tests.rs"]
mod lines;
#[cfg(test)]
#[path = "flags/rules_tests.rs"]
mod rules;

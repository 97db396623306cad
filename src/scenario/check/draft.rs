//! Steps, topk and draft tokens, after SGLang's rules.
//!
//! `draft_tokens` counts the rows verified per request, root included. With topk 1 it is steps + 1; with topk T > 1 the
//! drafter offers at most T + (steps - 1)·T² nodes beside the root (sgl-project/sglang, `server_args.py` and
//! `speculative/eagle_worker.py`).

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::scenario::layer::Layer;
use crate::scenario::written::{MethodWord, SpeculationKeys};

/// The shape of a draft, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scenario) struct PartialShape {
    /// Draft steps.
    pub steps: Option<u32>,
    /// Branches per step.
    pub topk: u32,
    /// Rows verified per request.
    pub draft_tokens: Option<u32>,
}

/// Rows that SGLang verifies for n-gram drafts unless told otherwise: its longest match window.
const NGRAM_ROWS: u32 = 12;

/// The shape with what follows from the rest filled in.
pub(in crate::scenario) fn draft_shape(keys: &SpeculationKeys) -> PartialShape {
    let topk = keys.topk.unwrap_or(1);
    let ngram = keys.method == Some(MethodWord::Ngram);
    let follows = topk == 1 || ngram;
    let from_steps = keys.steps.filter(|_| follows).map(|steps| steps + 1);
    let draft_tokens = keys.draft_tokens.or(from_steps).or(ngram.then_some(NGRAM_ROWS));
    let steps = keys.steps.or_else(|| draft_tokens.filter(|_| follows).map(|rows| rows.saturating_sub(1)));
    PartialShape { steps, topk, draft_tokens }
}

impl PartialShape {
    /// The most tokens one verify pass can yield per request: the longest chain and the bonus token.
    pub(in crate::scenario) fn accept_limit(self) -> Option<u32> {
        match (self.steps, self.draft_tokens) {
            (Some(steps), Some(rows)) => Some((steps + 1).min(rows)),
            (Some(steps), None) => Some(steps + 1),
            (None, rows) => rows,
        }
    }
}

pub(super) fn check(layer: &Layer, found: &mut Diagnostics) {
    let keys = &layer.written.speculation;
    check_rows(layer, keys, found);
    check_draft_key(layer, keys, found);
}

fn check_rows(layer: &Layer, keys: &SpeculationKeys, found: &mut Diagnostics) {
    let (Some(steps), Some(rows)) = (keys.steps, keys.draft_tokens) else { return };
    let topk = keys.topk.unwrap_or(1);
    if keys.method == Some(MethodWord::Ngram) {
        if rows < 2 || steps >= rows {
            let title = format!("{rows} rows cannot hold a chain of {steps} drafted tokens");
            let diagnostic = Diagnostic::error(Code::DraftShape, title);
            let diagnostic = layer.at(diagnostic, "speculation.draft_tokens", "rows verified, root included");
            found.push(layer.beside(diagnostic, "speculation.steps", "longest chain drafted"));
        }
        return;
    }
    if topk == 1 {
        if rows != steps + 1 {
            let title = format!("a chain of {steps} steps verifies {} rows, not {rows}", steps + 1);
            let diagnostic = Diagnostic::error(Code::DraftShape, title);
            let remark = format!("with topk 1 this is steps + 1 = {}", steps + 1);
            let diagnostic = layer.at(diagnostic, "speculation.draft_tokens", &remark);
            let diagnostic = layer.beside(diagnostic, "speculation.steps", "tokens drafted in a row");
            let diagnostic =
                diagnostic.note("draft_tokens counts the root; SGLang would set it to steps + 1");
            found.push(match layer.place("speculation.draft_tokens") {
                Some(place) => {
                    diagnostic.fix("make it fit the steps, or leave it out", place, (steps + 1).to_string())
                }
                None => diagnostic,
            });
        }
        return;
    }
    let most = 1 + u64::from(topk) + u64::from(steps - 1) * u64::from(topk).pow(2);
    if u64::from(rows) > most {
        let title = format!("a tree of {steps} steps and topk {topk} has at most {most} nodes, not {rows}");
        let diagnostic = Diagnostic::error(Code::DraftShape, title);
        let remark = format!("at most 1 + {topk} + {} · {topk}² = {most}", steps - 1);
        let diagnostic = layer.at(diagnostic, "speculation.draft_tokens", &remark);
        let diagnostic = layer.beside(diagnostic, "speculation.steps", "");
        found.push(layer.beside(diagnostic, "speculation.topk", ""));
    }
}

/// The accept length against the most that one pass can yield.
pub(super) fn check_accept_length(layer: &Layer, found: &mut Diagnostics) {
    let keys = &layer.written.speculation;
    let shape = draft_shape(keys);
    let (Some(given), Some(limit)) = (&keys.acceptance.accept_length, shape.accept_limit()) else { return };
    let length = given.0.value.get();
    if length <= f64::from(limit) {
        return;
    }
    let title = format!("accept length {length} is more than one verify pass can yield");
    let diagnostic = Diagnostic::error(Code::AcceptLength, title);
    let remark = format!(
        "at most {limit}: {} drafted token{} + 1 bonus token",
        limit - 1,
        if limit == 2 { "" } else { "s" }
    );
    let diagnostic = layer.at(diagnostic, "speculation.acceptance.accept_length", &remark);
    let diagnostic = match (keys.draft_tokens, keys.steps) {
        (Some(rows), _) if rows == limit => {
            let remark = format!("{rows} rows are verified, root included");
            layer.beside(diagnostic, "speculation.draft_tokens", &remark)
        }
        _ => layer.beside(diagnostic, "speculation.steps", "the longest chain drafted"),
    };
    found.push(diagnostic.note("accept length counts the bonus token, as vLLM and SGLang do"));
}

fn check_draft_key(layer: &Layer, keys: &SpeculationKeys, found: &mut Diagnostics) {
    let why = match keys.method {
        Some(MethodWord::Ngram) => "an n-gram lookup has no draft model",
        Some(MethodWord::Mtp) => "the MTP module comes with the model",
        _ => return,
    };
    if keys.draft.is_some() {
        let diagnostic = Diagnostic::error(Code::Contradiction, why);
        let diagnostic = layer.at(diagnostic, "speculation.draft", "names a draft model");
        found.push(layer.beside(diagnostic, "speculation.method", "").help("leave `draft` out"));
    }
}

//! Acceptance: one kind, and probabilities that can be.

use super::draft::draft_shape;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::scenario::layer::Layer;
use crate::scenario::written::{AcceptanceKeys, TreeKeys};

const AT: &str = "speculation.acceptance";

/// The kinds of acceptance that are given.
pub(in crate::scenario) fn acceptance_kinds(keys: &AcceptanceKeys) -> Vec<&'static str> {
    let given = [
        ("accept_length", keys.accept_length.is_some()),
        ("rate", keys.rate.is_some()),
        ("mean_rate", keys.mean_rate.is_some()),
        ("conditional", keys.conditional.is_some()),
        ("cumulative", keys.cumulative.is_some()),
        ("histogram", keys.histogram.is_some()),
        ("tree", keys.tree.is_some()),
        ("file", keys.file.is_some()),
    ];
    given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
}

pub(super) fn check(layer: &Layer, found: &mut Diagnostics) {
    let keys = &layer.written.speculation.acceptance;
    check_one_kind(layer, keys, found);
    if let Some(rates) = &keys.cumulative {
        check_falling(layer, rates, found);
    }
    if let Some(counts) = &keys.histogram {
        check_histogram(layer, counts, found);
    }
    if let Some(tree) = &keys.tree {
        let sum: f64 = tree.ranks.iter().sum();
        if sum > 1.0 + 1e-9 {
            let title = format!(
                "the branches of a tree exclude each other, and their probabilities add up to {sum:.3}"
            );
            let diagnostic = Diagnostic::error(Code::Probabilities, title);
            found.push(layer.at(diagnostic, &format!("{AT}.tree.ranks"), "must add up to at most 1"));
        }
        check_tree(layer, tree, found);
    }
    check_reach(layer, keys, found);
}

fn check_one_kind(layer: &Layer, keys: &AcceptanceKeys, found: &mut Diagnostics) {
    let kinds = acceptance_kinds(keys);
    if kinds.len() < 2 {
        return;
    }
    let title = format!(
        "acceptance is described {} times",
        if kinds.len() == 2 { "two".to_owned() } else { kinds.len().to_string() }
    );
    let mut diagnostic = Diagnostic::error(Code::AcceptanceKind, title);
    for (number, kind) in kinds.iter().enumerate() {
        if let Some(place) = layer.key(&format!("{AT}.{kind}")) {
            diagnostic = if number == 0 {
                diagnostic.beside(place, "here")
            } else {
                diagnostic.at(place, if number == 1 { "and here" } else { "" })
            };
        }
    }
    found.push(diagnostic.help("keep the one that was measured"));
}

fn check_falling(layer: &Layer, rates: &[f64], found: &mut Diagnostics) {
    let Some(at) = (1..rates.len()).find(|at| rates[*at] > rates[at - 1] + 1e-9) else { return };
    let title = "cumulative acceptance rises from one position to the next";
    let diagnostic = Diagnostic::error(Code::Probabilities, title);
    let remark = format!("more than {}, the position before", rates[at - 1]);
    let diagnostic = layer.at(diagnostic, &format!("{AT}.cumulative.{at}"), &remark);
    let diagnostic = diagnostic.note("a token is accepted only after all those before it");
    found.push(match layer.key(&format!("{AT}.cumulative")) {
        Some(key) => {
            diagnostic.fix("if each value is given that those before were accepted", key, "conditional")
        }
        None => diagnostic,
    });
}

fn check_histogram(layer: &Layer, counts: &[f64], found: &mut Diagnostics) {
    if counts.iter().sum::<f64>() <= 0.0 {
        let diagnostic = Diagnostic::error(Code::Probabilities, "a histogram without any cycle says nothing");
        found.push(layer.at(diagnostic, &format!("{AT}.histogram"), "all counts are zero"));
    }
    let Some(steps) = draft_shape(&layer.written.speculation).steps else { return };
    let longest = counts.iter().rposition(|count| *count > 0.0).unwrap_or(0);
    if longest > steps as usize {
        let title = format!("{longest} accepted tokens are counted, and only {steps} are drafted");
        let diagnostic = Diagnostic::error(Code::Probabilities, title);
        let remark = format!("cycles with {longest} accepted tokens");
        let diagnostic = layer.at(diagnostic, &format!("{AT}.histogram.{longest}"), &remark);
        let diagnostic = layer.beside(diagnostic, "speculation.steps", "");
        found.push(layer.beside(diagnostic, "speculation.draft_tokens", "root included"));
    }
}

/// A tree has the nodes that are verified.
fn check_tree(layer: &Layer, tree: &TreeKeys, found: &mut Diagnostics) {
    let rows = layer.written.speculation.draft_tokens;
    if let (Some(nodes), Some(rows)) = (tree.nodes, rows)
        && nodes != rows
    {
        let title = format!("a tree of {nodes} nodes verifies {nodes} rows, and `draft_tokens` is {rows}");
        let diagnostic = Diagnostic::error(Code::Contradiction, title);
        let diagnostic = layer.at(diagnostic, &format!("{AT}.tree.nodes"), "root included");
        let diagnostic = layer.beside(diagnostic, "speculation.draft_tokens", "root included");
        found.push(diagnostic.help("leave `nodes` out: it follows from `draft_tokens`"));
    }
}

/// A list per position must reach as far as the draft.
fn check_reach(layer: &Layer, keys: &AcceptanceKeys, found: &mut Diagnostics) {
    let Some(steps) = draft_shape(&layer.written.speculation).steps else { return };
    for (name, list) in [("conditional", &keys.conditional), ("cumulative", &keys.cumulative)] {
        let Some(list) = list.as_ref().filter(|list| list.len() < steps as usize) else { continue };
        let title = format!("acceptance is given for {} of {steps} drafted positions", list.len());
        let diagnostic = Diagnostic::error(Code::Probabilities, title);
        let diagnostic = match layer.key(&format!("{AT}.{name}")) {
            Some(key) => diagnostic.at(key, format!("{steps} values are needed")),
            None => diagnostic,
        };
        let diagnostic = layer.beside(diagnostic, "speculation.steps", "");
        found.push(layer.beside(diagnostic, "speculation.draft_tokens", "root included"));
    }
}

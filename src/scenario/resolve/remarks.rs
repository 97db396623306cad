//! Remarks on what a scenario says without effect, or beyond what is known.

use crate::calibration::Calibration;
use crate::hardware::{Hardware, gpu_preset};
use crate::scenario::layer::Layer;
use crate::scenario::setup::{Setup, WhatIf};
use crate::scenario::tree::Content;
use crate::scenario::written::MethodWord;

/// Keys that another verb answers.
pub(super) fn unused_keys(layer: &Layer, path: &str) -> Option<String> {
    let value = &layer.tree.at("sweep")?.content;
    (*value != Content::Null)
        .then(|| format!("`sweep` is not used here: `specplan sweep {path}` computes it"))
}

/// Keys that only a prediction uses, of a scenario whose observed numbers answer alone.
pub(super) fn unused_by_observed(layer: &Layer) -> Option<String> {
    const KEYS: [&str; 6] =
        ["calibration", "runtime", "parallel", "workload.context", "environment", "speculation.method"];
    const OF_A_PASS: [&str; 7] = [
        "execution",
        "environment",
        "allreduce.backend",
        "allreduce.opt_in",
        "allreduce.algorithm",
        "allreduce.protocol",
        "allreduce.transport",
    ];
    let passes = ["baseline", "speculation.verify", "speculation.draft_pass"].iter();
    let of_passes = passes.flat_map(|pass| OF_A_PASS.iter().map(move |key| format!("{pass}.{key}")));
    let others = ["speculation.draft", "speculation.scheduler"].map(str::to_owned);
    let all = KEYS.into_iter().map(str::to_owned).chain(others).chain(of_passes);
    // The rows of an n-gram draft follow from its method.
    let ngram = layer.written.speculation.method == Some(MethodWord::Ngram);
    let given = |path: &String| {
        let says = |content: &Content| match content {
            Content::Null => false,
            Content::Map(map) => !map.is_empty(),
            _ => true,
        };
        layer.tree.at(path).is_some_and(|node| says(&node.content))
            && !(ngram && path == "speculation.method")
    };
    let unused: Vec<String> = all.filter(given).map(|path| format!("`{path}`")).collect();
    let (verb, list) = match unused.as_slice() {
        [] => return None,
        [one] => ("is", one.clone()),
        [others @ .., last] => ("are", format!("{} and {last}", others.join(", "))),
    };
    Some(format!(
        "{list} {verb} not used: without `hardware` and `model` the answer is arithmetic on what was observed"
    ))
}

/// That independent cycles are taken for all, since the scenario does not say how many were counted.
pub(super) fn cycles_unsaid(layer: &Layer) -> Option<String> {
    let speculation = &layer.written.speculation;
    let independent =
        speculation.observed.effective_cycles.filter(|_| speculation.observed.cycles.is_none())?;
    let counted = speculation.acceptance.histogram.is_some() || speculation.acceptance.file.is_some();
    (!counted).then(|| {
        format!(
            "`speculation.observed.effective_cycles: {independent}` stands without `cycles`: it is taken for all cycles that \
             were counted"
        )
    })
}

/// That the tables were measured on another GPU than the one of the box, where both are known.
pub(super) fn foreign_calibration(hardware: &Hardware, calibration: &Calibration) -> Option<String> {
    let known = |name: &str| gpu_preset(name).map(|gpu| gpu.name);
    let measured = known(&calibration.facts.as_ref()?.gpu)?;
    let gpu = known(&hardware.gpu.name)?;
    (measured != gpu).then(|| {
        format!(
            "calibration {} was measured on {measured}, and {} has {gpu}",
            calibration.name, hardware.name
        )
    })
}

/// Contexts that are longer than the model says it can read, of what is answered and of the what-ifs.
pub(super) fn beyond_context(answered: Option<&Setup>, what_ifs: &[Option<WhatIf>]) -> Vec<String> {
    let named = what_ifs.iter().flatten().map(|what_if| {
        let base = answered.map(context);
        (format!("what-if \"{}\": ", what_if.name), &what_if.setup, base == Some(context(&what_if.setup)))
    });
    let answered = answered.into_iter().map(|setup| (String::new(), setup, false));
    answered
        .chain(named)
        .filter(|(.., repeated)| !repeated)
        .filter_map(|(prefix, setup, _)| Some(format!("{prefix}{}", too_long(setup)?)))
        .collect()
}

fn context(setup: &Setup) -> Option<u32> {
    match setup {
        Setup::Modelled(setup) => Some(setup.context),
        Setup::Observed(_) => None,
    }
}

fn too_long(setup: &Setup) -> Option<String> {
    let Setup::Modelled(setup) = setup else { return None };
    let (context, most) = (setup.context, setup.model.max_context);
    (context > most).then(|| {
        format!(
            "workload.context is {context} tokens, and {} states at most {most} tokens: the times are those of a \
             model that could read so far",
            setup.model.name
        )
    })
}

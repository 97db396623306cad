//! What was measured against what is supposed, and parts against their whole.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::scenario::layer::Layer;
use crate::scenario::written::{Given, ObservedAllreduceKeys};
use crate::units::Seconds;

pub(super) fn check(layer: &Layer, found: &mut Diagnostics) {
    let written = &layer.written;
    let (baseline, verify) = (&written.baseline, &written.speculation.verify);
    let batch = f64::from(written.workload.batch.unwrap_or(1));

    let step = baseline
        .observed
        .time
        .map(|time| time.0.value)
        .or_else(|| baseline.observed.throughput.map(|rate| Seconds::new(batch / rate.0.value.get())));
    parts(layer, "baseline", "decode step", step, baseline.observed.allreduce.as_ref(), found);
    let time = verify.observed.time.map(|time| time.0.value);
    parts(layer, "speculation.verify", "verify pass", time, verify.observed.allreduce.as_ref(), found);

    both(layer, "baseline.time", "baseline.observed.throughput", "the decode step", found);
    both(layer, "baseline.time", "baseline.observed.time", "the decode step", found);
    both(layer, "speculation.verify.time", "speculation.verify.observed.time", "the verify pass", found);
    both(
        layer,
        "speculation.draft_pass.time",
        "speculation.draft_pass.observed.time",
        "the draft passes",
        found,
    );
    for pass in ["baseline", "speculation.verify"] {
        let (supposed, measured) = (format!("{pass}.allreduce.time"), format!("{pass}.observed.allreduce"));
        both(layer, &supposed, &measured, "one all-reduce", found);
    }
    let observed = &written.speculation.observed;
    if let (Some(all), Some(independent)) = (observed.cycles, observed.effective_cycles)
        && independent > all as f64
    {
        let title = format!("{independent} independent cycles are more than the {all} that were counted");
        let diagnostic = Diagnostic::error(Code::Parts, title);
        let diagnostic = layer.at(diagnostic, "speculation.observed.effective_cycles", "at most all");
        found.push(layer.beside(diagnostic, "speculation.observed.cycles", "all"));
    }
    agree(layer, baseline.observed.time.as_ref(), batch, found);
}

/// The all-reduces of a pass take no longer than the pass.
fn parts(
    layer: &Layer,
    pass: &str,
    noun: &str,
    whole: Option<Seconds>,
    allreduce: Option<&ObservedAllreduceKeys>,
    found: &mut Diagnostics,
) {
    let (Some(whole), Some(allreduce)) = (whole, allreduce) else { return };
    let total = allreduce.total.0.value;
    if total.get() <= whole.get() * (1.0 + 1e-9) {
        return;
    }
    let title = format!("the all-reduces take {total}, longer than the {noun} of {whole}");
    let diagnostic = Diagnostic::error(Code::Parts, title);
    let diagnostic = diagnostic.note("both are meant per pass, and measured in the same run");
    let remark = format!("part of the {noun}");
    let diagnostic = layer.at(diagnostic, &format!("{pass}.observed.allreduce.total"), &remark);
    let whole_key = ["time", "throughput"]
        .into_iter()
        .map(|key| format!("{pass}.observed.{key}"))
        .find(|path| layer.place(path).is_some());
    found.push(match whole_key {
        Some(path) => layer.beside(diagnostic, &path, "the whole"),
        None => diagnostic,
    });
}

/// A part cannot be supposed and measured at once.
fn both(layer: &Layer, supposed: &str, measured: &str, noun: &str, found: &mut Diagnostics) {
    let (Some(supposed), Some(measured)) = (layer.key(supposed), layer.key(measured)) else { return };
    found.push(
        Diagnostic::error(Code::Contradiction, format!("{noun} cannot be supposed and measured at once"))
            .at(supposed, "supposes a time")
            .beside(measured, "says what was measured")
            .help("move the supposed time to `what_if`, or give it with `--set`"),
    );
}

/// A decode step and a throughput that are both given must say the same.
fn agree(layer: &Layer, time: Option<&Given<Seconds>>, batch: f64, found: &mut Diagnostics) {
    let (Some(time), Some(rate)) = (time, &layer.written.baseline.observed.throughput) else { return };
    let from_rate = batch / rate.0.value.get();
    if (time.0.value.get() / from_rate - 1.0).abs() <= 0.02 {
        return;
    }
    let title = format!("{} with {batch} running is a step of {}", rate.0.value, Seconds::new(from_rate));
    let diagnostic = Diagnostic::error(Code::Contradiction, title);
    let diagnostic = layer.at(diagnostic, "baseline.observed.time", "not the same step");
    let diagnostic = layer.beside(diagnostic, "baseline.observed.throughput", "");
    found.push(diagnostic.help("give one of the two"));
}

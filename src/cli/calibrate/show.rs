//! What `calibrate` prints: the plan before, the summary after.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::calibration::measure::plan::{Plan, estimate_group, estimate_start};
use crate::calibration::measure::{Inspection, facts};
use crate::units::Seconds;

/// A plan as text.
pub(super) fn plan_text(plan: &Plan, found: &Inspection) -> String {
    let gpus = found.gpus.len() as u32;
    let name = found.gpus.first().map_or_else(String::new, |gpu| facts::preset_of(&gpu.name));
    let tasks = plan.tasks().count();
    let mut text = format!("{tasks} measurements on {gpus}x {name}, about {}:\n", rough(plan.duration(gpus)));
    let mut running = None;
    for group in &plan.groups {
        let start =
            if running == Some(&group.variant.environment) { Seconds::ZERO } else { estimate_start(gpus) };
        running = Some(&group.variant.environment);
        let environment = if group.variant.environment.is_empty() {
            String::new()
        } else {
            format!("  {}", group.variant.describe())
        };
        let _ = writeln!(
            text,
            "  {:<12}{:>5} {:>7}{environment}",
            group.part.word(),
            group.tasks.len(),
            rough(start + estimate_group(group))
        );
    }
    for left in &plan.left_out {
        for line in super::super::explain_presets::wrapped(
            &format!("not as asked: {}: {}", left.what, left.because),
            78,
        ) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

/// A plan as JSON.
pub(super) fn plan_json(plan: &Plan, found: &Inspection) -> Value {
    let gpus = found.gpus.len() as u32;
    let duration = (plan.duration(gpus).get() * 10.0).round() / 10.0;
    let mut value = json!({
        "schema": "specplan-calibrate-plan/1",
        "tool_version": env!("CARGO_PKG_VERSION"),
        "gpus": gpus,
        "tasks": plan.tasks().count(),
        "estimated_s": duration,
    });
    value["groups"] = serde_json::to_value(&plan.groups).expect("a plan becomes JSON");
    value["left_out"] = serde_json::to_value(&plan.left_out).expect("a plan becomes JSON");
    value
}

/// `12 s`, `3 min 20 s`.
pub(super) fn rough(time: Seconds) -> String {
    let seconds = time.get().max(0.0).ceil() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        _ if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        _ => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

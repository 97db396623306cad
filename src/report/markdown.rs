//! The answer as Markdown, for issues, pull requests and documentation.

use std::fmt::Write;

use crate::analytic::Prediction;

use super::context::Context;
use super::number::{TimeScale, times};
use super::rows::{Parts, baseline_parts, cycle_parts, lever_heading, lever_rows};
use super::surely::{
    EFFECT_HEADING, EFFECT_NOTE, OUTCOME_HEADING, caveat, effect_cells, headline, more_cycles_words, moving,
    outcome_cells, turn_words,
};
use super::text::{against, certainty, crossing_lists, crossing_words, provenance};
use super::verb;

/// The answer as Markdown: verdict, breakdown, levers, variations, findings.
pub fn markdown(prediction: &Prediction, context: &Context) -> String {
    let sections = [
        head(prediction, context),
        parts_table("One cycle", &cycle_parts(prediction)),
        levers(prediction),
        what_ifs(prediction),
        crossings(prediction),
        baseline(prediction),
        surely(context),
        findings(prediction),
        pictures(context),
    ];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

fn head(prediction: &Prediction, context: &Context) -> String {
    let mut out = format!("## {}\n\n", escape(&context.scenario_name));
    let _ = writeln!(
        out,
        "**Speculation {}: {}, against {} without it ({}).**",
        verb(prediction.verdict),
        prediction.speculation.throughput.used.value,
        prediction.baseline.throughput.used.value,
        times(prediction.speedup.used.value),
    );
    if let Some(sentence) = certainty(prediction) {
        let _ = writeln!(out, "{sentence}");
    }
    let _ = write!(out, "\n{}", escape(&context.setup_words));
    if let Some(name) = &context.calibration_name {
        let _ = write!(out, "; calibration {}", escape(name));
    }
    let _ = write!(out, ". Scenario: `{}`", context.scenario_path);
    for (key, value) in &context.overrides {
        let _ = write!(out, ", with `{key} = {value}`");
    }
    out.push_str(".\n");
    out
}

/// A heading row, an alignment row, then the rows.
pub(super) fn table(heading: &[&str], right: &[bool], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let marks: Vec<String> = right.iter().map(|&r| if r { "--:" } else { ":--" }.to_owned()).collect();
    let heading: Vec<String> = heading.iter().map(|&word| word.to_owned()).collect();
    let mut out = line(&heading) + &line(&marks);
    for row in rows {
        out.push_str(&line(&row.iter().map(|cell| escape(cell)).collect::<Vec<_>>()));
    }
    out
}

/// How sure, where Monte Carlo was asked for.
fn surely(context: &Context) -> String {
    let Some(found) = &context.uncertainty else { return String::new() };
    let mut out = format!("How sure: {}\n", escape(&headline(found)));
    if moving(found).next().is_some() {
        let rows =
            moving(found).map(|outcome| outcome_cells(outcome).map(|cell| cell.trim().to_owned()).to_vec());
        out.push('\n');
        out.push_str(&table(&OUTCOME_HEADING, &[false, true, true, true], rows));
    }
    if !found.effects.is_empty() {
        let rows = found.effects.iter().map(|effect| effect_cells(effect).to_vec());
        out.push('\n');
        out.push_str(&table(&EFFECT_HEADING, &[false, true, true, true, true], rows));
        let _ = writeln!(out, "\n{EFFECT_NOTE}");
        if let Some(caveat) = caveat(found) {
            let _ = writeln!(out, "\n{caveat}");
        }
    }
    if !found.turns.is_empty() {
        out.push_str("\nWhere the winner changes, by the model alone:\n\n");
        for turn in &found.turns {
            let _ = writeln!(out, "- {}", escape(&turn_words(turn)));
        }
    }
    if let Some(more) = &found.more_cycles {
        let _ = writeln!(out, "\n{}", escape(&more_cycles_words(more)));
    }
    out
}

fn parts_table(title: &str, parts: &Parts) -> String {
    let shown = if parts.has_model { 5 } else { 4 };
    let rows = parts.rows.iter().map(|row| {
        let label = format!("{}{}", "\u{a0}\u{a0}\u{a0}".repeat(row.depth.into()), row.label);
        let cells = [label, row.time.clone(), row.share.clone(), row.source.clone(), row.model.clone()];
        cells.into_iter().take(shown).collect()
    });
    let heading = [title, "time", "share", "source", "model"];
    let mut out = table(&heading[..shown], &[false, true, true, false, true][..shown], rows);
    if parts.has_extrapolated {
        out.push_str("\n\\* outside the measured range\n");
    }
    out
}

fn levers(prediction: &Prediction) -> String {
    let rows = lever_rows(&prediction.break_even, prediction.speculation.cycle.used.value);
    let cells = rows.into_iter().map(|r| vec![r.name.to_owned(), r.now, r.needed, r.change, r.draft_free]);
    let heading = ["lever", "now", "needed", "change", "if drafting were free"];
    let mut out = format!("{}\n\n", lever_heading(prediction));
    out.push_str(&table(&heading, &[false, true, true, true, true], cells));
    if let Some(lever) = &prediction.largest_lever {
        let (name, speedup) = (escape(&lever.name), times(lever.speedup));
        let against = against(prediction, lever);
        let (verify, throughput) = (lever.verify, lever.throughput);
        let _ = writeln!(out, "\nLargest lever: {name}: {verify}, {throughput}{against} ({speedup}).");
    }
    out
}

fn what_ifs(prediction: &Prediction) -> String {
    if prediction.what_ifs.is_empty() {
        return String::new();
    }
    let scale = TimeScale::for_largest(prediction.what_ifs.iter().map(|answer| answer.verify));
    let rows = prediction.what_ifs.iter().map(|answer| {
        let (verify, throughput) = (scale.text(answer.verify), answer.throughput.to_string());
        vec![answer.name.clone(), verify, throughput, times(answer.speedup), provenance(answer)]
    });
    table(&["What if", "verify", "throughput", "speedup", "source"], &[false, true, true, true, false], rows)
}

fn crossings(prediction: &Prediction) -> String {
    let lists = crossing_lists(prediction);
    let rows = lists.into_iter().filter(|(_, list)| !list.is_empty()).map(|(name, list)| {
        let words: Vec<String> = list.iter().map(crossing_words).collect();
        vec![name.to_owned(), words.join(", ")]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        String::new()
    } else {
        table(&["Varied alone", "speculation"], &[false, false], rows)
    }
}

fn baseline(prediction: &Prediction) -> String {
    let parts = baseline_parts(prediction);
    if parts.rows.len() < 2 { String::new() } else { parts_table("One step without it", &parts) }
}

fn findings(prediction: &Prediction) -> String {
    let mut out = String::new();
    for finding in &prediction.diagnosis {
        let _ = writeln!(out, "* **{}**: {}", finding.code, escape(&finding.message));
        for step in &finding.settle {
            let _ = writeln!(out, "  * to settle it: {}", escape(step));
        }
    }
    out
}

fn pictures(context: &Context) -> String {
    context.plots.iter().map(|path| format!("![{path}]({path})\n")).collect::<Vec<_>>().concat()
}

/// A bar would end a cell, an angle bracket would start a tag.
pub(super) fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('*', "\\*")
}

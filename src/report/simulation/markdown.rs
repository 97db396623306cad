//! Simulations as Markdown.

use std::fmt::Write;
use std::path::Path;

use super::serving_text::LATENCIES;
use super::words::{
    amount, machine_claim, machine_observed, machine_rows, ms, outcome, percentile, served_words,
    serving_claim,
};
use crate::report::context::Context;
use crate::report::number::{percent, times};
use crate::serving::{ServingResult, Slo};
use crate::simulation::{LoadUnit, MachineAnswer, ServingAnswer};
use crate::units::significant;

/// The simulated machine as Markdown.
pub fn machine_markdown(answer: &MachineAnswer, context: &Context) -> String {
    let mut out = heading(context, &machine_claim(answer));
    if let Some(sentence) = machine_observed(answer) {
        let _ = writeln!(out, "{sentence}");
    }
    out.push_str(
        "\n| | mean | p10 | p50 | p90 | p99 | closed form | observed |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (name, d, beside, _) in machine_rows(answer) {
        let observed = beside.observed.map_or(String::new(), |o| {
            let place = percentile(&o, answer.result.runs);
            if place.is_empty() { o.time.value.to_string() } else { format!("{} ({place})", o.time.value) }
        });
        let [mean, p10, p50, p90, p99] = [d.mean(), d.p10(), d.p50(), d.p90(), d.p99()].map(ms);
        let _ = writeln!(
            out,
            "| {name} | {mean} | {p10} | {p50} | {p90} | {p99} | {} | {observed} |",
            beside.closed
        );
    }
    let verify = &answer.result.verify;
    if verify.allreduces > 0 {
        let _ = writeln!(
            out,
            "\n| {} all-reduces of verify | as booked | true | booked / true |\n|---|--:|--:|--:|",
            verify.allreduces
        );
        for rank in &verify.ranks {
            let (booked, truly) = (ms(rank.booked_ms), ms(rank.true_ms));
            let _ = writeln!(
                out,
                "| rank {} | {booked} | {truly} | {} |",
                rank.rank,
                times(rank.booked_over_true())
            );
        }
        let (booked, truly) = (ms(verify.booked_ms.mean()), ms(verify.true_ms.mean()));
        let ratio = times(verify.booked_over_true.p50());
        let _ = writeln!(out, "| the median rank of a run | {booked} | {truly} | {ratio} |");
        let _ = writeln!(out, "| least of the ranks, summed | {} | | |", ms(verify.least_ms.mean()));
    }
    let _ = writeln!(out, "\nCritical path of verify in the median run: {}.", verify.critical_path);
    finish(out, &answer.notes, context)
}

/// Served requests as Markdown.
pub fn serving_markdown(answer: &ServingAnswer, context: &Context) -> String {
    let mut out = heading(context, &serving_claim(answer).0);
    let _ = writeln!(out, "{}.", served_words(&answer.config));
    out.push_str("\n| | with speculation | without |\n|---|--:|--:|\n");
    let mut row = |name: &str, value: &dyn Fn(&ServingResult) -> String| {
        let _ = writeln!(out, "| {name} | {} | {} |", value(&answer.with), value(&answer.without));
    };
    row("throughput", &|r| r.throughput.to_string());
    row("requests answered", &|r| r.requests.completed.to_string());
    if answer.config.slo != Slo::default() {
        row("within the SLO", &|r| percent(r.goodput.share));
    }
    row("accept length", &|r| r.accept_length.to_string());
    for (name, of) in LATENCIES {
        row(&format!("{name}, p50 / p90 / p99"), &|r| {
            let latency = of(r);
            format!("{} / {} / {}", latency.p50, latency.p90, latency.p99)
        });
    }
    if let Some(first) = answer.loads.first() {
        let unit = match first.unit {
            LoadUnit::RequestsPerSecond => "requests/s",
            LoadUnit::Users => "users",
        };
        let _ = writeln!(
            out,
            "\n| {unit} | tok/s with | without | E2E with | without | speculation |\n|--:|--:|--:|--:|--:|--:|"
        );
        for point in &answer.loads {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} |",
                amount(point.load, point.unit),
                significant(point.with.throughput.get(), 3),
                significant(point.without.throughput.get(), 3),
                point.with.e2e.mean,
                point.without.e2e.mean,
                outcome(&point.comparison)
            );
        }
    }
    finish(out, &answer.notes, context)
}

fn heading(context: &Context, claim: &str) -> String {
    format!("## {}\n\n**{claim}**\n", context.scenario_name.replace('|', "\\|"))
}

fn finish(mut out: String, notes: &[String], context: &Context) -> String {
    if !notes.is_empty() {
        out.push('\n');
        for note in notes {
            let _ = writeln!(out, "* {note}");
        }
    }
    let _ = write!(out, "\n{}. Scenario: `{}`", context.setup_words, context.scenario_path);
    for (key, value) in &context.overrides {
        let _ = write!(out, ", with `{key} = {value}`");
    }
    let _ = writeln!(out, ", seed {}.", context.seed);
    for plot in context.plots.iter().filter(|plot| Path::new(plot).extension().is_some_and(|e| e == "svg")) {
        let _ = writeln!(out, "\n![]({plot})");
    }
    out
}

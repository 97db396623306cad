//! Served requests on a terminal.

use super::words::{amount, count, notes, outcome, overrides, served_words, serving_claim};
use crate::report::context::{Context, Style};
use crate::report::number::percent;
use crate::report::paint::Tone;
use crate::report::table::{Align, Cell, Overflow, Table};
use crate::report::text::setup;
use crate::report::wrap::paragraph;
use crate::serving::{Latency, ServingResult, Slo};
use crate::simulation::{LoadUnit, Outcome, ServingAnswer};
use crate::units::significant;

/// The answer as text of `style.width` columns.
pub fn serving_text(answer: &ServingAnswer, context: &Context, style: &Style) -> String {
    let sections = [
        claim(answer, context, style),
        totals(answer, style),
        latencies(answer, style),
        loads(answer, style),
        notes(&answer.notes, style),
        setup(context, style),
    ];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

fn claim(answer: &ServingAnswer, context: &Context, style: &Style) -> String {
    let (sentence, outcome) = serving_claim(answer);
    let (verdict, rest) = sentence.split_once(':').unwrap_or((&sentence, ""));
    let tone = tone(outcome);
    let mut out = String::new();
    if answer.interrupted {
        out.push_str("Interrupted: the figures are those of what was done.\n");
    }
    let wrapped = paragraph(&format!("{verdict}:{rest}"), "", "", style.width);
    out.push_str(&wrapped.replacen(verdict, &tone.paint(verdict, style.color), 1));
    out.push_str(&paragraph(&format!("{}.", served_words(&answer.config)), "  ", "  ", style.width));
    out.push_str(&overrides(context, style));
    out
}

const fn tone(outcome: Outcome) -> Tone {
    match outcome {
        Outcome::Wins => Tone::Gain,
        Outcome::Loses => Tone::Loss,
        Outcome::Ties => Tone::Strong,
    }
}

fn strong<const N: usize>(words: [&str; N]) -> [Cell; N] {
    words.map(|word| Cell::new(word, Tone::Strong))
}

fn totals(answer: &ServingAnswer, style: &Style) -> String {
    use Align::{Left, Right};
    let mut table = Table::new(&[Left, Right, Right], Overflow::Elide);
    table.row(strong(["Served", "with speculation", "without"]));
    let mut row = |name: &str, value: &dyn Fn(&ServingResult) -> String| {
        table.row([format!("  {name}").into(), value(&answer.with).into(), value(&answer.without).into()]);
    };
    row("throughput", &|r| r.throughput.to_string());
    row("requests answered", &|r| {
        format!("{}, {}/s", count(r.requests.completed), significant(r.request_rate, 3))
    });
    if answer.with.requests.rejected + answer.without.requests.rejected > 0 {
        row("requests rejected", &|r| count(r.requests.rejected));
    }
    if answer.config.slo != Slo::default() {
        row("within the SLO", &|r| {
            format!("{}, {}/s", percent(r.goodput.share), significant(r.goodput.request_rate, 3))
        });
    }
    row("accept length", &|r| r.accept_length.to_string());
    row("requests in a step, mean", &|r| significant(r.mean_batch, 3));
    row("server busy", &|r| percent(r.busy_share));
    row("KV blocks in use, mean", &|r| percent(r.kv.mean_share));
    row("preemptions", &|r| count(r.preemptions));
    table.render(style.width, style.color)
}

fn latencies(answer: &ServingAnswer, style: &Style) -> String {
    use Align::{Left, Right};
    let mut table = Table::new(&[Left, Left, Right, Right, Right, Right], Overflow::Elide);
    table.row(strong(["Latency", "speculation", "mean", "p50", "p90", "p99"]));
    for (name, of) in LATENCIES {
        for (at, (side, result)) in
            [("with", &answer.with), ("without", &answer.without)].into_iter().enumerate()
        {
            let latency = of(result);
            let times = [latency.mean, latency.p50, latency.p90, latency.p99];
            let name = if at == 0 { format!("  {name}") } else { String::new() };
            let cells = times.map(|time| Cell::from(time.to_string()));
            table.row([name.into(), Cell::new(side, Tone::Dim)].into_iter().chain(cells));
        }
    }
    table.render(style.width, style.color)
}

/// One latency of a result.
type Which = fn(&ServingResult) -> &Latency;

/// The latencies that are told, in order.
pub(super) const LATENCIES: [(&str, Which); 4] = [
    ("first token (TTFT)", |r| &r.ttft),
    ("per token (TPOT)", |r| &r.tpot),
    ("between tokens (ITL)", |r| &r.itl),
    ("whole answer (E2E)", |r| &r.e2e),
];

fn loads(answer: &ServingAnswer, style: &Style) -> String {
    use Align::{Left, Right};
    let Some(first) = answer.loads.first() else { return String::new() };
    let mut table = Table::new(&[Left, Right, Right, Right, Right, Left], Overflow::Elide);
    let title = match first.unit {
        LoadUnit::RequestsPerSecond => "Other loads",
        LoadUnit::Users => "Users",
    };
    let unit = match first.unit {
        LoadUnit::RequestsPerSecond => " requests/s",
        LoadUnit::Users => "",
    };
    table.row(strong([title, "tok/s with", "without", "E2E with", "without", "speculation"]));
    for point in &answer.loads {
        table.row([
            format!("  {}{unit}", amount(point.load, point.unit)).into(),
            significant(point.with.throughput.get(), 3).into(),
            significant(point.without.throughput.get(), 3).into(),
            point.with.e2e.mean.to_string().into(),
            point.without.e2e.mean.to_string().into(),
            Cell::new(outcome(&point.comparison), tone(point.comparison.outcome)),
        ]);
    }
    table.render(style.width, style.color)
}

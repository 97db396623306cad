//! All that was priced: one row per setting and cell.

use crate::report::context::Context;
use crate::report::number::finite;
use crate::tune::{Outcome, Plan};

const HEADER: [&str; 19] = [
    "scenario",
    "context",
    "batch",
    "rank",
    "setting",
    "method",
    "steps",
    "topk",
    "draft_tokens",
    "accept_length",
    "cycle_ms",
    "per_token_ms",
    "throughput_tok_s",
    "gain",
    "gain_low",
    "gain_high",
    "win_probability",
    "accept_length_by_law",
    "source",
];

/// The plan as CSV, header first; rank 1 is the best of its cell.
pub fn tune_csv(plan: &Plan, context: &Context) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADER).expect("writing to memory succeeds");
    for cell in &plan.cells {
        for (rank, outcome) in (1..).zip(&cell.tried) {
            let mut row = vec![
                context.scenario_name.clone(),
                cell.context.to_string(),
                cell.batch.to_string(),
                usize::to_string(&rank),
            ];
            row.extend(cells(plan, outcome));
            writer.write_record(&row).expect("writing to memory succeeds");
        }
    }
    let bytes = writer.into_inner().expect("writing to memory succeeds");
    String::from_utf8(bytes).expect("CSV of text is text")
}

fn cells(plan: &Plan, outcome: &Outcome) -> Vec<String> {
    let number = |value: f64| finite(value).map_or(String::new(), |v| v.to_string());
    let shape = outcome.setting.draft;
    let of = |value: Option<u32>| value.map_or(String::new(), |v| v.to_string());
    vec![
        outcome.setting.words(&plan.methods),
        shape.map_or(String::new(), |(at, _)| plan.methods[at].word().to_owned()),
        of(shape.map(|(_, s)| s.steps)),
        of(shape.map(|(_, s)| s.topk)),
        of(shape.map(|(_, s)| s.draft_tokens)),
        outcome.length.map_or(String::new(), |length| number(length.get())),
        number(outcome.cycle.ms()),
        number(outcome.per_token.ms()),
        number(outcome.throughput.get()),
        number(outcome.gain),
        number(outcome.gain_low),
        number(outcome.gain_high),
        outcome.win_probability.map_or(String::new(), number),
        outcome.accept.as_ref().map_or(String::new(), |a| number(a.mean.get())),
        source(outcome).to_owned(),
    ]
}

/// Whether a throughput was measured or is predicted.
pub(super) const fn source(outcome: &Outcome) -> &'static str {
    if outcome.measured { "measured" } else { "predicted" }
}

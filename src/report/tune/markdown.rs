//! The plan as Markdown.

use std::fmt::Write as _;

use super::words;
use crate::report::context::Context;
use crate::report::markdown::{escape, table};
use crate::tune::{Paste, Plan};

/// The plan as Markdown: crossover table, GPUs, lines to paste, what it rests on.
pub fn tune_markdown(plan: &Plan, pastes: &[Paste], context: &Context) -> String {
    let mut out = format!(
        "## {}\n\n**{}** ({}).\n",
        escape(&context.scenario_name),
        words::claim(plan),
        words::objective(plan)
    );
    let mut contexts: Vec<u32> = plan.cells.iter().map(|cell| cell.context).collect();
    contexts.dedup();
    for at in contexts {
        let rows =
            plan.cells.iter().filter(|cell| cell.context == at).map(|cell| words::row(plan, cell).to_vec());
        let right = [true, false, true, true, true, false];
        let _ = write!(out, "\n### Context {at}\n\n{}", table(&words::HEADING, &right, rows));
    }
    for fleet in &plan.fleets {
        let _ = write!(out, "\n{}\n", words::fleet(plan, fleet));
    }
    for paste in pastes {
        let _ = write!(out, "\n### {}\n", paste.title);
        if !paste.lines.is_empty() {
            let _ = write!(out, "\n```sh\n{}\n```\n", paste.lines.join("\n"));
        }
        for note in &paste.notes {
            let _ = write!(out, "\n{note}\n");
        }
    }
    out.push_str("\n### What it rests on\n\n");
    for line in
        plan.assumed.iter().chain(&words::refused(plan)).chain([&words::searched(plan)]).chain(&plan.measure)
    {
        let _ = writeln!(out, "* {line}");
    }
    let _ = write!(out, "\n{}. Scenario: `{}`.\n", escape(&context.setup_words), context.scenario_path);
    out
}

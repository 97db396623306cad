//! The plan on a terminal.

use std::fmt::Write as _;

use super::words;
use crate::report::context::{Context, Style};
use crate::report::paint::Tone;
use crate::report::table::{Align, Cell as TableCell, Overflow, Table};
use crate::report::text::setup;
use crate::report::wrap::{columns, paragraph};
use crate::tune::{Cell, Paste, Plan};

/// The plan as text: verdict, crossover table, GPUs, lines to paste, what it rests on.
pub fn tune_text(plan: &Plan, pastes: &[Paste], context: &Context, style: &Style) -> String {
    let sections = [
        head(plan, context, style),
        tables(plan, style),
        fleets(plan, style),
        commands(pastes, style),
        list("What it rests on", &grounds(plan), style),
        list("To be surer", &plan.measure, style),
        setup(context, style),
    ];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

fn head(plan: &Plan, context: &Context, style: &Style) -> String {
    let claim = paragraph(&format!("{}.", words::claim(plan)), "", "", style.width);
    let mut out: String = claim.lines().map(|line| Tone::Strong.paint(line, style.color) + "\n").collect();
    let _ = writeln!(out, "Ranked {}.", words::objective(plan));
    for (key, value) in &context.overrides {
        out.push_str(&paragraph(&format!("with {key} = {value}"), "  ", "    ", style.width));
    }
    out
}

fn tables(plan: &Plan, style: &Style) -> String {
    let mut contexts: Vec<u32> = plan.cells.iter().map(|cell| cell.context).collect();
    contexts.dedup();
    let one = |context: u32| {
        let mut table = Table::new(
            &[Align::Right, Align::Left, Align::Right, Align::Right, Align::Right, Align::Left],
            Overflow::Elide,
        );
        table.row(words::HEADING.map(|word| TableCell::new(word, Tone::Dim)));
        for cell in plan.cells.iter().filter(|cell| cell.context == context) {
            let [batch, best, gain, rate, sure, next] = words::row(plan, cell);
            let tone = tone(cell);
            table.row([
                batch.into(),
                TableCell::new(best, tone),
                TableCell::new(gain, tone),
                rate.into(),
                sure.into(),
                TableCell::new(next, Tone::Dim),
            ]);
        }
        let nexts = plan.cells.iter().filter(|cell| cell.context == context);
        let nexts: Vec<String> = nexts.map(|cell| words::row(plan, cell)[5].clone()).collect();
        format!("Context {context}\n{}", indented(&folded(&table, &nexts, style)))
    };
    contexts.into_iter().map(one).collect::<Vec<_>>().join("\n")
}

/// Rows that would be too wide, with their last cell on a line of its own.
fn folded(table: &Table, lasts: &[String], style: &Style) -> String {
    let width = style.width.saturating_sub(2);
    let (plain, shown) = (table.render(width, false), table.render(width, style.color));
    let fold = |((plain, line), last): ((&str, &str), &str)| {
        let painted = Tone::Dim.paint(last, style.color);
        match line.strip_suffix(painted.as_str()) {
            Some(start) if columns(plain) > width && !last.is_empty() => {
                let indent = " ".repeat(width.saturating_sub(columns(last)));
                format!("{}\n{indent}{painted}\n", start.trim_end())
            }
            _ => format!("{line}\n"),
        }
    };
    let lasts = std::iter::once("").chain(lasts.iter().map(String::as_str));
    plain.lines().zip(shown.lines()).zip(lasts).map(fold).collect()
}

fn tone(cell: &Cell) -> Tone {
    match cell.best() {
        Some(best) if best.setting.draft.is_some() => Tone::Gain,
        Some(_) => Tone::Loss,
        None => Tone::Dim,
    }
}

fn indented(text: &str) -> String {
    text.lines().flat_map(|line| ["  ", line, "\n"]).collect()
}

fn fleets(plan: &Plan, style: &Style) -> String {
    let lines = plan.fleets.iter().map(|fleet| paragraph(&words::fleet(plan, fleet), "", "  ", style.width));
    lines.collect()
}

fn commands(pastes: &[Paste], style: &Style) -> String {
    let one = |paste: &Paste| {
        let title = paragraph(&paste.title, "", "  ", style.width);
        let mut out: String =
            title.lines().map(|line| Tone::Strong.paint(line, style.color) + "\n").collect();
        for line in &paste.lines {
            out.extend(["  ", line, "\n"]);
        }
        for note in &paste.notes {
            out.push_str(&paragraph(note, "  # ", "  # ", style.width));
        }
        out
    };
    pastes.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn grounds(plan: &Plan) -> Vec<String> {
    let mut list = plan.assumed.clone();
    let open = plan.cells.iter().filter_map(|cell| Some((cell, words::acceptance(plan, cell)?)));
    list.extend(
        open.take(3).map(|(cell, words)| format!("batch {}, context {}: {words}", cell.batch, cell.context)),
    );
    list.extend(words::refused(plan));
    list.push(words::searched(plan));
    list
}

fn list(title: &str, lines: &[String], style: &Style) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| paragraph(line, "  * ", "    ", style.width)).collect();
    format!("{title}\n{lines}")
}

//! The simulated machine on a terminal.

use std::fmt::Write as _;

use super::words::{count, machine_claim, machine_observed, machine_rows, ms, notes, overrides, percentile};
use crate::machine::Distribution;
use crate::report::context::{Context, Style};
use crate::report::number::{TimeScale, percent, times};
use crate::report::paint::Tone;
use crate::report::table::{Align, Cell, Overflow, Table};
use crate::report::text::setup;
use crate::report::wrap::paragraph;
use crate::simulation::MachineAnswer;

/// The answer as text of `style.width` columns.
pub fn machine_text(answer: &MachineAnswer, context: &Context, style: &Style) -> String {
    let sections = [
        claim(answer, context, style),
        times_table(answer, style),
        observed(answer, style),
        allreduces(answer, style),
        busy(answer, style),
        notes(&answer.notes, style),
        setup(context, style),
    ];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

fn claim(answer: &MachineAnswer, context: &Context, style: &Style) -> String {
    let mut out = String::new();
    if answer.result.runs < answer.wanted {
        let (done, wanted) = (u64::from(answer.result.runs), u64::from(answer.wanted));
        let _ = writeln!(out, "Interrupted after {} of {} runs.", count(done), count(wanted));
    }
    out.push_str(&paragraph(&machine_claim(answer), "", "", style.width));
    if let Some(sentence) = machine_observed(answer) {
        out.push_str(&paragraph(&sentence, "", "", style.width));
    }
    out.push_str(&overrides(context, style));
    out
}

fn statistics(distribution: &Distribution) -> [f64; 5] {
    [distribution.mean(), distribution.p10(), distribution.p50(), distribution.p90(), distribution.p99()]
}

fn strong<const N: usize>(words: [&str; N]) -> [Cell; N] {
    words.map(|word| Cell::new(word, Tone::Strong))
}

fn times_table(answer: &MachineAnswer, style: &Style) -> String {
    use Align::{Left, Right};
    let mut table = Table::new(&[Left, Right, Right, Right, Right, Right, Right], Overflow::Elide);
    let title = match answer.result.runs {
        1 => "One run".to_owned(),
        runs => format!("{} runs", count(u64::from(runs))),
    };
    table.row(strong([&title, "mean", "p10", "p50", "p90", "p99", "closed form"]));
    let rows = machine_rows(answer);
    let all = rows.iter().flat_map(|row| statistics(row.1)).map(ms);
    let scale = TimeScale::for_largest(all.chain(rows.iter().map(|row| row.2.closed)));
    for (name, distribution, beside, _) in &rows[..3] {
        let cells = statistics(distribution).map(|value| scale.text(ms(value)).into());
        let closed: Cell = scale.text(beside.closed).into();
        table.row([Cell::from(format!("  {name}"))].into_iter().chain(cells).chain([closed]));
    }
    table.render(style.width, style.color)
}

/// Observed times, and where they lie.
fn observed(answer: &MachineAnswer, style: &Style) -> String {
    use Align::{Left, Right};
    let rows = machine_rows(answer);
    let given: Vec<_> = rows.iter().filter_map(|row| row.2.observed.map(|o| (&row.0, row.1, o))).collect();
    if given.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[Left, Right, Right, Right], Overflow::Elide);
    table.row(strong(["Observed", "time", "among the runs", "their median"]));
    let all = given.iter().flat_map(|(_, simulated, o)| [o.time.value, ms(simulated.p50())]);
    let scale = TimeScale::for_largest(all);
    for (name, simulated, observed) in &given {
        table.row([
            format!("  {name}").into(),
            scale.text(observed.time.value).into(),
            percentile(observed, answer.result.runs).into(),
            scale.text(ms(simulated.p50())).into(),
        ]);
    }
    table.render(style.width, style.color)
}

fn allreduces(answer: &MachineAnswer, style: &Style) -> String {
    use Align::{Left, Right};
    let verify = &answer.result.verify;
    if verify.allreduces == 0 {
        return String::new();
    }
    let mut table = Table::new(&[Left, Right, Right, Right], Overflow::Elide);
    let title = format!("{} all-reduces of verify", verify.allreduces);
    table.row(strong([&title, "as booked", "true", "booked / true"]));
    let booked = verify.ranks.iter().map(|rank| rank.booked_ms).chain([verify.booked_ms.mean()]);
    let scale = TimeScale::for_largest(booked.map(ms));
    for rank in &verify.ranks {
        table.row([
            format!("  rank {}", rank.rank).into(),
            scale.text(ms(rank.booked_ms)).into(),
            scale.text(ms(rank.true_ms)).into(),
            times(rank.booked_over_true()).into(),
        ]);
    }
    let ratio = &verify.booked_over_true;
    table.row([
        "  the median rank of a run".into(),
        scale.text(ms(verify.booked_ms.mean())).into(),
        scale.text(ms(verify.true_ms.mean())).into(),
        times(ratio.p50()).into(),
    ]);
    table.row([
        "  least of the ranks, summed".into(),
        scale.text(ms(verify.least_ms.mean())).into(),
        "".into(),
        "".into(),
    ]);
    let mut out = table.render(style.width, style.color);
    if times(ratio.p10()) != times(ratio.p90()) {
        let sentence = format!(
            "10 to 90 % of the runs: the median rank books {} to {} the true time.",
            times(ratio.p10()),
            times(ratio.p90())
        );
        out.push_str(&paragraph(&sentence, "  ", "  ", style.width));
    }
    out
}

fn busy(answer: &MachineAnswer, style: &Style) -> String {
    let mut out = String::new();
    for (name, pass, how) in [
        ("step", &answer.result.decode, answer.decode_execution),
        ("verify", &answer.result.verify, answer.verify_execution),
    ] {
        let mut sentence = format!(
            "{name}, {}: hosts busy {} of the time, GPUs {}",
            how,
            percent(pass.utilisation.host),
            percent(pass.utilisation.gpu),
        );
        if let Some((link, share)) = pass.utilisation.links.first() {
            let _ = write!(sentence, ", the busiest link ({link}) {}", percent(*share));
        }
        let _ = write!(sentence, ". Critical path of the median run: {}.", pass.critical_path);
        out.push_str(&paragraph(&sentence, "  ", "    ", style.width));
    }
    format!("{}\n{out}", Tone::Strong.paint("What sets the time", style.color))
}

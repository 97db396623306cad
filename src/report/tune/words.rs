//! What text and Markdown say alike.

use crate::report::number::{percent, times};
use crate::tune::{Carried, Cell, Fleet, Objective, Outcome, Plan, Side};

/// Columns of the table of cells.
pub(super) const HEADING: [&str; 6] = ["batch", "best", "gain", "tok/s", "sure", "next best"];

/// Gains closer to 1 than this tie, as in the verdict of `run`.
const TIE: f64 = 0.01;

/// The first sentence: where to speculate, and what of the choice is unexplained.
pub(super) fn claim(plan: &Plan) -> String {
    let far = plan.carried.iter().filter(|carried| carried.is_far() && carried.part != "draft and host");
    let far = far.max_by(|a, b| a.distance().total_cmp(&b.distance())).map(excess);
    let limit = slowness(plan);
    let claim = limit.map_or_else(|| where_best(plan), |limit| format!("{limit}. {}", where_best(plan)));
    match (far, plan.as_modelled) {
        (None, _) => claim,
        (Some(far), false) => format!("{claim}, resting on {far}"),
        (Some(far), true) => format!("{claim} by the model alone, against {far}"),
    }
}

/// `an unexplained verify pass, observed at 1.95 to 2.08 times the model's`.
fn excess(carried: &Carried) -> String {
    let (low, high) = carried.range();
    let range = if high - low < 0.005 { format!("{high:.2}") } else { format!("{low:.2} to {high:.2}") };
    let what = match (carried.part, carried.eager) {
        ("verify", true) => "a verify pass that the host issues",
        ("verify", false) => "an unexplained verify pass",
        (_, true) => "a baseline that the host issues",
        _ => "an unexplained baseline",
    };
    format!("{what}, observed at {range} times the model's")
}

/// That nothing keeps the limit, or not everywhere.
fn slowness(plan: &Plan) -> Option<String> {
    let limit = plan.goal.slo?;
    let bests = || plan.cells.iter().filter_map(Cell::best);
    let (all, slow) = (bests().count(), bests().filter(|best| !best.keeps_slo).count());
    match slow {
        0 => None,
        _ if slow == all => Some(format!("Nothing keeps {limit} a token at any batch size")),
        _ => Some(format!("Nothing keeps {limit} a token in {slow} of {all} cells")),
    }
}

fn where_best(plan: &Plan) -> String {
    let cells: Vec<&Cell> = plan.cells.iter().filter(|cell| cell.best().is_some()).collect();
    let on = |cell: &&Cell| cell.best().is_some_and(|best| best.setting.draft.is_some());
    let winning = cells.iter().filter(|cell| on(cell)).count();
    match (winning, cells.len()) {
        (_, 0) => "Nothing fits: no cell was priced".to_owned(),
        (0, _) => "Off is best everywhere".to_owned(),
        (n, all) if n == all => "Speculation is best everywhere".to_owned(),
        (n, all) => format!("Speculation is best in {n} of {all} cells, off in the others"),
    }
}

/// The objective in words.
pub(super) fn objective(plan: &Plan) -> String {
    let limit = plan.goal.slo.map(|slo| format!(" within {slo} a token"));
    let of = match plan.goal.objective {
        Objective::Throughput | Objective::Goodput => "throughput",
        Objective::Latency => "time per token",
    };
    format!("by {of}{}", limit.unwrap_or_default())
}

/// The cells of one row of the table.
pub(super) fn row(plan: &Plan, cell: &Cell) -> [String; 6] {
    let batch = cell.batch.to_string();
    let Some(best) = cell.best() else {
        let none = || "–".to_owned();
        return [batch, "does not fit".to_owned(), none(), none(), none(), none()];
    };
    let mut setting = best.setting.words(&plan.methods);
    if !best.keeps_slo {
        setting.push_str(" (too slow)");
    }
    let close = cell.on().zip(cell.off()).is_some_and(|(on, off)| (on.gain / off.gain - 1.0).abs() < TIE);
    if close {
        setting.push_str(" (on and off tie)");
    }
    if best.measured {
        setting.push_str(", measured");
    }
    let sure = cell.on().and_then(|on| on.win_probability);
    let sure = sure.map_or("–".to_owned(), |p| chance(best, p));
    let next = cell.rival().map_or("–".to_owned(), |rival| {
        let measured = if rival.measured { ", measured" } else { "" };
        format!("{} {}{measured}", rival.setting.words(&plan.methods), times(rival.gain))
    });
    [batch, setting, times(best.gain), crate::units::significant(best.throughput.get(), 3), sure, next]
}

/// How sure the verdict is: that on beats off where it is on, that off beats on where it is off.
fn chance(best: &Outcome, wins: f64) -> String {
    let sure = if best.setting.draft.is_some() { wins } else { 1.0 - wins };
    if sure > 0.99 { "> 99 %".to_owned() } else { percent(sure) }
}

/// A sentence about the fleet.
pub(super) fn fleet(plan: &Plan, fleet: &Fleet) -> String {
    let side = |side: &Side| {
        let plural = if side.replicas == 1 { "" } else { "s" };
        format!(
            "{} GPUs ({} replica{plural}, batch {}, {}, {} a token)",
            side.gpus,
            side.replicas,
            side.batch,
            side.setting.words(&plan.methods),
            side.per_token
        )
    };
    let start = format!("{} at context {}", fleet.load, fleet.context);
    match (&fleet.off, &fleet.tuned, fleet.saved()) {
        (Some(off), Some(tuned), Some(saved)) => {
            let saved = match saved {
                0 => "saves none".to_owned(),
                n if n > 0 => format!("saves {n} GPUs"),
                n => format!("takes {} GPUs more", -n),
            };
            let range = match fleet.saved_range {
                Some((low, high)) if low != high => {
                    format!(" ({low} to {high} for the model's own deviation)")
                }
                _ => String::new(),
            };
            format!(
                "{start}: without speculation {}, with the best setting {}: {saved}{range}.",
                side(off),
                side(tuned)
            )
        }
        (None, Some(tuned), _) => format!(
            "{start}: without speculation no batch size keeps the limit; with the best setting {}.",
            side(tuned)
        ),
        _ => format!("{start}: no batch size keeps the limit."),
    }
}

/// How much was searched.
pub(super) fn searched(plan: &Plan) -> String {
    if plan.priced == plan.possible {
        format!("All {} settings were priced.", plan.possible)
    } else {
        format!(
            "{} of {} settings were priced; no other can be among the best two.",
            plan.priced, plan.possible
        )
    }
}

/// The accept length behind a choice and its range, where one is open.
pub(super) fn acceptance(plan: &Plan, cell: &Cell) -> Option<String> {
    let on = cell.on()?;
    let accept = on.accept.as_ref()?;
    if (accept.high.get() - accept.low.get()).abs() < 5e-3 {
        return None;
    }
    let used = on.length.filter(|used| (used.get() - accept.mean.get()).abs() > 5e-3);
    let elsewhere =
        used.map(|used| format!("; priced here at {used}, by `run` and `sweep` at {}", accept.mean));
    Some(format!(
        "{}: gain {} to {} for an accept length of {} to {}{}",
        on.setting.words(&plan.methods),
        times(on.gain_low),
        times(on.gain_high),
        accept.low,
        accept.high,
        elsewhere.unwrap_or_default()
    ))
}

/// Why cells were refused: the smallest refused batch of each context.
pub(super) fn refused(plan: &Plan) -> Vec<String> {
    let mut list = Vec::new();
    let mut seen = None;
    for cell in &plan.cells {
        if let Some(reason) = cell.refused.as_ref().filter(|_| seen != Some(cell.context)) {
            list.push(format!(
                "batch {}, context {} does not fit: {reason} (a tenth of the memory is kept back)",
                cell.batch, cell.context
            ));
            seen = Some(cell.context);
        }
    }
    list
}

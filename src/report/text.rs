//! The answer on a terminal: verdict, breakdown, levers, variations, findings.

mod breakdown;
mod findings;
mod levers;
mod surely;
mod variations;

pub(super) use levers::against;
pub(super) use variations::{crossing_lists, crossing_words, provenance};

use crate::analytic::{Prediction, Verdict};
use crate::tune::MOST_PREDICTED;

use super::context::{Context, Style};
use super::number::times;
use super::paint::Tone;
use super::verb;
use super::wrap::paragraph;

/// Narrowest layout; below it the terminal has to cope.
const NARROWEST: usize = 60;

/// The answer as text of `style.width` columns, without a date, a duration or anything else that changes
/// between two runs on the same input.
pub fn text(prediction: &Prediction, context: &Context, style: &Style) -> String {
    let style = Style { color: style.color, width: style.width.max(NARROWEST) };
    let sections = [
        verdict(prediction, context, &style),
        breakdown::cycle(prediction, &style),
        levers::table(prediction, &style),
        variations::what_ifs(prediction, &style),
        variations::crossings(prediction, &style),
        variations::elasticities(prediction, &style),
        breakdown::baseline(prediction, &style),
        surely::sections(context, &style),
        findings::list(prediction, &style),
        setup(context, &style),
    ];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The colour of a verdict.
const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Wins => Tone::Gain,
        Verdict::Loses => Tone::Loss,
        Verdict::Ties => Tone::Strong,
    }
}

/// The first line answers in a sentence; interval and overrides follow where there are any.
fn verdict(prediction: &Prediction, context: &Context, style: &Style) -> String {
    let claim = claim(prediction);
    let mut out = format!(
        "{}: {}, against {} without it ({}).\n",
        tone(prediction.verdict).paint(&claim, style.color),
        prediction.speculation.throughput.used.value,
        prediction.baseline.throughput.used.value,
        times(prediction.speedup.used.value),
    );
    if let Some(sentence) = certainty(prediction) {
        out.push_str(&paragraph(&sentence, "", "", style.width));
    }
    for (key, value) in &context.overrides {
        out.push_str(&paragraph(&format!("with {key} = {value}"), "  ", "    ", style.width));
    }
    out
}

/// The verdict in words. A tie by the interval alone, far from 1, is no tie to a reader: it is undecided.
fn claim(prediction: &Prediction) -> String {
    let speedup = prediction.speedup.used.value;
    match prediction.verdict {
        Verdict::Ties if speedup <= 0.99 => "Undecided, probably loses".to_owned(),
        Verdict::Ties if speedup >= 1.01 => "Undecided, probably wins".to_owned(),
        other => format!("Speculation {}", verb(other)),
    }
}

/// How sure the verdict is, where the inputs carry spreads.
pub(super) fn certainty(prediction: &Prediction) -> Option<String> {
    let spread =
        prediction.speedup.used.spread.map(|s| format!("a speedup of {} to {}", times(s.low), times(s.high)));
    let rests_on_model = rests_on_model(prediction);
    let cut = |p: f64| if rests_on_model { p.clamp(1.0 - MOST_PREDICTED, MOST_PREDICTED) } else { p };
    let chance =
        prediction.win_probability.map(|p| format!("a probability of {} to win", probability(cut(p))));
    let both: Vec<String> = [spread, chance].into_iter().flatten().collect();
    let without = if rests_on_model { " alone, without the model's own error," } else { "" };
    (!both.is_empty()).then(|| format!("Spreads of the inputs{without} give {}.", both.join(", ")))
}

/// Whether the baseline is the model's alone, or the model contradicts the verify pass.
fn rests_on_model(prediction: &Prediction) -> bool {
    let step = prediction.baseline.step;
    step.predicted.is_some_and(|model| model.value == step.used.value)
        || prediction.diagnosis.iter().any(|finding| finding.code == "verify-differs")
}

/// A probability, without claiming certainty.
fn probability(p: f64) -> String {
    match p {
        p if p < 0.01 => "under 1 %".to_owned(),
        p if p > 0.99 => "over 99 %".to_owned(),
        p => super::number::percent(p),
    }
}

/// What was asked, last and dim.
pub(super) fn setup(context: &Context, style: &Style) -> String {
    let calibration = context.calibration_name.as_ref().map(|name| format!("calibration {name}"));
    let facts: Vec<&str> =
        [Some(context.setup_words.as_str()), calibration.as_deref(), Some(&context.scenario_path)]
            .into_iter()
            .flatten()
            .filter(|fact| !fact.is_empty())
            .collect();
    paragraph(&facts.join("; "), "Setup: ", "  ", style.width)
        .lines()
        .map(|line| Tone::Dim.paint(line, style.color) + "\n")
        .collect()
}

//! Draws the plots of an answer: samples curves, hands them to the report, writes SVG and PNG.

use std::path::Path;

use super::exit::Failure;
use super::output::write_files;
use crate::analytic::{BreakEven, Figure, Parts, Prediction};
use crate::evaluate;
use crate::report::{self, Context, plot};
use crate::scenario::{Loaded, ModelledSetup, Setup};
use crate::sourced::Sourced;
use crate::units::{AcceptLength, Seconds, TokensPerSecond};

/// Width of the PNG files \[px\].
pub(super) const PNG_WIDTH: u32 = 1600;

/// Samples of a curve.
const SAMPLES: u32 = 120;

/// Samples of each axis of the heat map.
const CELLS: u32 = 48;

/// Writes all plots of one answer below `folder`, their names beginning with `prefix`, and returns their paths.
pub(super) fn write(
    folder: &Path,
    prefix: &str,
    loaded: &Loaded,
    prediction: &Prediction,
    context: &Context,
) -> Result<Vec<String>, Failure> {
    let setup = loaded.variation.as_ref().unwrap_or(&loaded.base);
    let mut written = Vec::new();
    let mut drawn = drawings(setup, prediction, &context.setup_words);
    let study = context.uncertainty.as_ref();
    if let Some(tornado) = study.and_then(|found| plot::Tornado::new(found, &context.setup_words)) {
        drawn.push(("speedup-tornado", plot::tornado(&tornado)));
    }
    for (name, svg) in drawn {
        let stem = folder.join(format!("{prefix}{name}"));
        written.extend(save(&stem, &svg)?);
    }
    Ok(written)
}

/// Writes one drawing as SVG and PNG.
pub(super) fn save(stem: &Path, svg: &str) -> Result<[String; 2], Failure> {
    let png = report::png(svg, PNG_WIDTH).map_err(|error| Failure::Input(error.to_string()))?;
    let path = |extension: &str| {
        let mut path = stem.as_os_str().to_owned();
        path.push(extension);
        std::path::PathBuf::from(path)
    };
    let (svg_path, png_path) = (path(".svg"), path(".png"));
    write_files(&[(&svg_path, svg.as_bytes()), (&png_path, &png)])?;
    Ok([svg_path.display().to_string(), png_path.display().to_string()])
}

fn drawings(setup: &Setup, prediction: &Prediction, words: &str) -> Vec<(&'static str, String)> {
    let used = parts(prediction, |figure| figure.used, |figure| figure.used, |figure| figure.used);
    let mut list = vec![
        (
            "throughput-against-verify",
            plot::throughput_against_verify(&verify_curve(prediction, &used, words)),
        ),
        (
            "throughput-against-accept-length",
            plot::throughput_against_accept_length(&accept_curve(prediction, &used, words)),
        ),
        ("speedup-map", plot::speedup_map(&heat_map(prediction, &used, words))),
        ("time-breakdown", plot::time_breakdown(&plot::Bars::new(prediction, words))),
    ];
    if let Setup::Modelled(modelled) = setup {
        list.push((
            "speedup-against-batch",
            plot::speedup_against_batch(&batch_curve(
                modelled,
                prediction,
                &super::words::without_batch(modelled),
            )),
        ));
        if modelled.parallel.tensor > 1 {
            let curves = super::plot_allreduce::curves(modelled, words);
            list.push(("allreduce-against-bytes", plot::allreduce_against_bytes(&curves)));
        }
    }
    list
}

/// The numbers of a prediction that the curves vary.
fn parts(
    prediction: &Prediction,
    time: impl Fn(&Figure<Seconds>) -> Sourced<Seconds>,
    length: impl Fn(&Figure<AcceptLength>) -> Sourced<AcceptLength>,
    throughput: impl Fn(&Figure<TokensPerSecond>) -> Sourced<TokensPerSecond>,
) -> Parts {
    let spec = &prediction.speculation;
    let step = time(&prediction.baseline.step);
    let batch = (throughput(&prediction.baseline.throughput).value.get() * step.value.get()).round();
    Parts {
        batch: batch as u32,
        accept_limit: spec.accept_limit.get(),
        accept_length: length(&spec.accept_length),
        baseline_step: step,
        verify: time(&spec.verify),
        allreduce: None,
        draft_host: time(&spec.draft_host),
        observed: None,
    }
}

/// Whether the figures that were used are the model's own, so that a second mark would only repeat the first.
fn is_model(prediction: &Prediction) -> bool {
    prediction.speedup.predicted.is_some_and(|predicted| predicted == prediction.speedup.used)
}

fn verify_curve(prediction: &Prediction, used: &Parts, words: &str) -> plot::VerifyCurve {
    let spec = &prediction.speculation;
    let model = spec.verify.predicted.zip(spec.throughput.predicted).map(|(v, t)| (v.value, t.value));
    let model = model.filter(|_| !is_model(prediction));
    let break_even = match prediction.break_even.verify.needed {
        BreakEven::Reached { value, .. } => value,
        BreakEven::Unreachable { .. } => None,
    };
    let longest = [Some(used.verify.value), model.map(|m| m.0), break_even]
        .into_iter()
        .flatten()
        .fold(used.baseline_step.value, Seconds::max)
        * 1.25;
    let shortest = (used.baseline_step.value * 0.5).min(used.verify.value * 0.9);
    let curve = (0..=SAMPLES)
        .map(|i| shortest + (longest - shortest) * (f64::from(i) / f64::from(SAMPLES)))
        .map(|verify| (verify, Parts { verify: Sourced::given(verify), ..*used }.throughput().value))
        .collect();
    plot::VerifyCurve {
        setup: words.to_owned(),
        baseline: prediction.baseline.throughput.used.value,
        accept_length: spec.accept_length.used.value,
        curve,
        break_even,
        observed: Some((spec.verify.used.value, spec.throughput.used.value)),
        model,
    }
}

fn accept_curve(prediction: &Prediction, used: &Parts, words: &str) -> plot::AcceptCurve {
    let spec = &prediction.speculation;
    let length = spec.accept_length.used.value;
    let limit = limit(prediction, used);
    let curve = (0..=SAMPLES)
        .map(|i| AcceptLength::new(1.0 + (limit.get() - 1.0) * f64::from(i) / f64::from(SAMPLES)))
        .map(|l| (l, Parts { accept_length: Sourced::given(l), ..*used }.throughput().value))
        .collect();
    plot::AcceptCurve {
        setup: words.to_owned(),
        baseline: prediction.baseline.throughput.used.value,
        limit,
        curve,
        break_even: Some(used.needed().accept_length.kept),
        observed: Some((length, spec.throughput.used.value)),
        model: spec.throughput.predicted.filter(|_| !is_model(prediction)).map(|t| (length, t.value)),
    }
}

/// The longest accept length worth drawing: what a cycle can yield, or beyond the break-even where no draft is stated.
fn limit(prediction: &Prediction, used: &Parts) -> AcceptLength {
    let stated = prediction.speculation.accept_limit;
    if stated.is_finite() {
        return stated;
    }
    let beyond = used.needed().accept_length.kept.max(used.accept_length.value).get() + 1.0;
    AcceptLength::new(beyond.ceil())
}

fn heat_map(prediction: &Prediction, used: &Parts, words: &str) -> plot::HeatMap {
    let spec = &prediction.speculation;
    let limit = limit(prediction, used).get();
    let model_verify = spec.verify.predicted.filter(|_| !is_model(prediction)).map(|v| v.value);
    let longest =
        used.verify.value.max(model_verify.unwrap_or(Seconds::ZERO)).max(used.baseline_step.value) * 1.2;
    let shortest = (used.baseline_step.value * 0.5).min(used.verify.value * 0.9);
    let step = |i: u32| f64::from(i) / f64::from(CELLS);
    let verify: Vec<Seconds> = (0..=CELLS).map(|i| shortest + (longest - shortest) * step(i)).collect();
    let lengths: Vec<AcceptLength> =
        (0..=CELLS).map(|i| AcceptLength::new(1.0 + (limit - 1.0) * step(i))).collect();
    let speedup = lengths
        .iter()
        .map(|length| {
            let at = |verify: &Seconds| Parts {
                verify: Sourced::given(*verify),
                accept_length: Sourced::given(*length),
                ..*used
            };
            verify.iter().map(|verify| at(verify).speedup_value()).collect()
        })
        .collect();
    let length = spec.accept_length.used.value;
    plot::HeatMap {
        setup: words.to_owned(),
        verify,
        accept_length: lengths,
        speedup,
        break_even: match prediction.break_even.verify.needed {
            BreakEven::Reached { value, .. } => value,
            BreakEven::Unreachable { .. } => None,
        },
        observed: Some((spec.verify.used.value, length, prediction.speedup.used.value)),
        model: model_verify.zip(prediction.speedup.predicted).map(|(v, s)| (v, length, s.value)),
    }
}

fn batch_curve(setup: &ModelledSetup, prediction: &Prediction, words: &str) -> plot::BatchCurve {
    plot::BatchCurve {
        setup: words.to_owned(),
        points: evaluate::over_batch(setup),
        crossings: prediction.break_even.batch.clone(),
    }
}

//! The same as keys of the JSON object, and as rows.

use serde_json::{Map, Value, json};

use super::acceptance::{Acceptances, name};
use super::acceptance_file;
use super::decoding::{Decoding, compared, range};
use super::section::Table;
use crate::import::serving::{BatchRow, Digest, DigestBatch, Distribution, RateSegment};
use crate::speculation::{ChiSquare, Estimate, Fits};

/// Keys of the object.
pub(super) fn keys(section: &Decoding, digest: &Digest, fits: &Acceptances, object: &mut Map<String, Value>) {
    let servers: Vec<&str> = digest.servers.keys().map(|server| server.name()).collect();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("servers", json!(servers));
    put("runs", json!(digest.runs));
    put("replicas", json!(digest.replicas));
    put("intervals", json!(digest.servers.values().sum::<u64>()));
    if let Some(length) = &fits.length {
        put(
            "accept_length",
            json!({"value": length.value, "low": length.ends.map(|e| e.0), "high": length.ends.map(|e| e.1)}),
        );
        put("accept_length_intervals", quantiles(&digest.spread, 1.0));
        put("accept_length_over_time", timeline(digest));
        put("dispersion", json!(fits.dispersion));
    }
    put("drafted_tokens", json!(fits.depth));
    put("rate", json!(fits.rate));
    if let (Some(found), Some(counted)) = (&fits.fits, &fits.counted) {
        let cumulative: Vec<f64> =
            counted.positions.iter().map(|count| *count as f64 / counted.drafts as f64).collect();
        put("cumulative", json!(cumulative));
        put("histogram", json!(found.counts.histogram()));
        put("drafts", json!(counted.drafts));
        put("drafted", json!(counted.drafted));
        put("accepted", json!(counted.accepted));
        put("positions_rounded", json!(counted.rounded));
        put("fits", fits_json(found));
    }
    put("accept_rate", json!(digest.rates.iter().map(rate).collect::<Vec<_>>()));
    put("flags", json!(digest.flags));
    put(
        "facts",
        json!(section.facts.iter().map(|(n, v)| json!({"name": n, "value": v})).collect::<Vec<_>>()),
    );
    times(digest, &mut put);
    put("batches", batches(&digest.speculation));
    put("baseline_batches", batches(&digest.baseline));
    put("observed", json!(acceptance_file::observed(digest, fits, section.written())));
}

/// Cycle, step and throughput at the batch with most intervals.
fn times(digest: &Digest, put: &mut impl FnMut(&str, Value) -> Option<Value>) {
    let baseline = digest.baseline.usual();
    match compared(digest) {
        Some((batch, row, plain)) => {
            put("batch", json!(batch));
            put("cycle_ms", three(row.cycle_times(), 1e3));
            put("throughput_tok_s", three(row.throughput(), 1.0));
            put("step_ms", plain.map_or(Value::Null, |row| three(row.cycle_times(), 1e3)));
            put("baseline_throughput_tok_s", plain.map_or(Value::Null, |row| three(row.throughput(), 1.0)));
        }
        None => {
            if let Some((batch, row)) = baseline {
                put("batch", json!(batch));
                put("step_ms", three(row.cycle_times(), 1e3));
                put("throughput_tok_s", three(row.throughput(), 1.0));
            }
        }
    }
}

/// Median, and the ends between which nine of ten intervals lie.
fn three(values: &Distribution, scale: f64) -> Value {
    let at = |q| values.quantile(q).map(|value| value * scale);
    match (at(0.5), at(0.05), at(0.95)) {
        (Some(value), Some(low), Some(high)) => range(value, low, high),
        _ => Value::Null,
    }
}

fn quantiles(values: &Distribution, scale: f64) -> Value {
    let at = |q| values.quantile(q).map(|value| value * scale);
    json!({"count": values.count(), "p5": at(0.05), "p50": at(0.5), "p95": at(0.95)})
}

fn timeline(digest: &Digest) -> Value {
    let start = digest.timeline.windows().first().and_then(|window| window.clock);
    let windows = digest.timeline.windows().iter().map(|window| {
        let since = window.clock.zip(start).map(|(clock, start)| (clock - start).get());
        json!({
            "from_line": window.from,
            "to_line": window.to,
            "since_start_s": since,
            "intervals": window.intervals,
            "accept_length": window.accept_length(),
        })
    });
    Value::Array(windows.collect())
}

fn rate(segment: &RateSegment) -> Value {
    json!({
        "from_line": segment.from,
        "to_line": segment.to,
        "lines": segment.lines,
        "definition": segment.form,
        "words": segment.form.words(),
    })
}

fn fits_json(fits: &Fits) -> Value {
    let beta = fits.beta.as_ref().map(|fit| {
        let (alpha, beta) = (fit.law.alpha(), fit.law.beta());
        json!({
            "alpha": alpha,
            "beta": beta,
            "mean_rate": range(alpha / (alpha + beta), fit.mean_rate.low, fit.mean_rate.high),
            "dispersion": range(1.0 / (alpha + beta), fit.dispersion.low, fit.dispersion.high),
            "log_likelihood_gain": fit.gain,
            "goodness": goodness(fit.goodness),
        })
    });
    json!({
        "geometric": {"rate": estimate(&fits.geometric.rate), "goodness": goodness(fits.geometric.goodness)},
        "conditional": fits.positions.iter().map(estimate).collect::<Vec<_>>(),
        "beta": beta,
        "supported": name(fits.recommended),
        "because": fits.recommended.because(),
    })
}

fn estimate(rate: &Estimate) -> Value {
    json!({
        "value": rate.rate,
        "low": rate.interval.low,
        "high": rate.interval.high,
        "exact_low": rate.exact.low,
        "exact_high": rate.exact.high,
        "accepted": rate.accepted,
        "tried": rate.tried,
    })
}

fn goodness(test: Option<ChiSquare>) -> Value {
    // An infinite statistic is a count where the law allows none.
    test.map_or(Value::Null, |t| {
        let statistic = t.statistic.is_finite().then_some(t.statistic);
        json!({"chi_square": statistic, "degrees": t.degrees, "p_value": t.p_value})
    })
}

fn batches(side: &DigestBatch) -> Value {
    let rows = side.batches.iter().map(|(batch, row)| {
        json!({
            "batch": batch,
            "intervals": row.intervals,
            "undisturbed": row.is_undisturbed(),
            "accept_length": row.lengths.mean(),
            "cycle_ms": three(row.cycle_times(), 1e3),
            "throughput_tok_s": three(row.throughput(), 1.0),
            "graph": row.graph,
            "eager": row.eager,
        })
    });
    Value::Array(rows.collect())
}

/// A row per batch.
pub(super) fn table(digest: &Digest) -> Table {
    let header = vec![
        "speculation",
        "batch",
        "intervals",
        "undisturbed",
        "accept_length",
        "cycle_ms",
        "cycle_p5_ms",
        "cycle_p95_ms",
        "throughput_tok_s",
        "graph",
        "eager",
    ];
    let mut rows = Vec::new();
    for (side, speculates) in [(&digest.speculation, true), (&digest.baseline, false)] {
        rows.extend(side.batches.iter().map(|(batch, row)| cells(speculates, *batch, row)));
    }
    Table { header, rows }
}

fn cells(speculates: bool, batch: u32, row: &BatchRow) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let ms = |q| number(row.cycle_times().quantile(q).map(|seconds| seconds * 1e3));
    vec![
        speculates.to_string(),
        batch.to_string(),
        row.intervals.to_string(),
        row.is_undisturbed().to_string(),
        number(row.lengths.mean()),
        ms(0.5),
        ms(0.05),
        ms(0.95),
        number(row.throughput().quantile(0.5)),
        row.graph.to_string(),
        row.eager.to_string(),
    ]
}

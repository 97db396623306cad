//! Steps and cycles per batch size in an acceptance file, as `import` writes them from server logs.

use serde_json::Value;

use crate::scenario::setup::MeasuredBatch;
use crate::sourced::{Source, Sourced};
use crate::units::TokensPerSecond;

/// Standard error of a median over that of a mean, of normal values: √(π/2).
const MEDIAN: f64 = 1.253_314_137_315_500_3;

/// The rows under `steps` (without speculation) and `cycles` (with it) that say a throughput, by batch size. Rows that
/// prefill disturbed, and what is no number, are left out: they decide nothing.
pub(super) fn rows(file: &Value) -> Vec<MeasuredBatch> {
    let drafted = file["imported"]["drafted_tokens"].as_u64().and_then(|n| u32::try_from(n).ok());
    let mut list: Vec<MeasuredBatch> = Vec::new();
    for (key, speculates) in [("steps", false), ("cycles", true)] {
        for row in file[key].as_array().into_iter().flatten() {
            let Some((batch, rate)) = rate(row) else { continue };
            let at = list.iter().position(|known| known.batch == batch).unwrap_or_else(|| {
                list.push(MeasuredBatch { batch, drafted, without: None, with: None });
                list.len() - 1
            });
            let side = if speculates { &mut list[at].with } else { &mut list[at].without };
            *side = Some(rate);
        }
    }
    list.sort_by_key(|row| row.batch);
    list
}

/// Batch size and throughput of a row, with the range that its intervals leave the median.
fn rate(row: &Value) -> Option<(u32, Sourced<TokensPerSecond>)> {
    let number = |key: &str| row[key].as_f64().filter(|n| n.is_finite() && *n > 0.0);
    let batch = row["batch"].as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0)?;
    if row["undisturbed"] == Value::Bool(false) {
        return None;
    }
    let rate = number("throughput_tok_s")?;
    let told = Sourced::new(TokensPerSecond::new(rate), Source::Measured);
    let range = number("median_ms").zip(number("p5_ms")).zip(number("p95_ms")).zip(number("intervals"));
    let ranged = range.map(|(((median, p5), p95), intervals)| {
        let error = MEDIAN * (p95 - p5).max(0.0) / 2.0 / median / intervals.sqrt();
        let at = |share: f64| TokensPerSecond::new(rate * share);
        told.with_spread(at(1.0 - error), at(1.0 + error))
    });
    Some((batch, ranged.unwrap_or(told)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_sides_of_a_batch_size_meet_and_the_median_has_a_range() {
        let file = json!({
            "imported": { "drafted_tokens": 2 },
            "cycles": [{ "batch": 4, "intervals": 25, "median_ms": 40.0, "p5_ms": 36.0, "p95_ms": 44.0,
                         "undisturbed": true, "throughput_tok_s": 180.0 }],
            "steps": [{ "batch": 4, "throughput_tok_s": 222.0 }, { "batch": 1, "throughput_tok_s": 80.0 }],
        });
        let list = rows(&file);
        assert_eq!(list.iter().map(|row| row.batch).collect::<Vec<_>>(), [1, 4]);
        assert_eq!((list[0].drafted, list[0].with), (Some(2), None));
        let with = list[1].with.expect("told");
        // 1.2533 · 4 / 40 / √25 = 2.507 % to each side.
        let spread = with.spread.expect("a range");
        assert!((spread.high.get() / 180.0 - 1.025_066).abs() < 1e-5);
        assert!((list[1].without.expect("told").value.get() - 222.0).abs() < 1e-12);
    }

    #[test]
    fn disturbed_rows_and_nonsense_decide_nothing() {
        let row = |extra: Value| {
            let mut row = json!({ "batch": 4, "throughput_tok_s": 180.0 });
            row.as_object_mut().expect("a map").extend(extra.as_object().expect("a map").clone());
            rows(&json!({ "cycles": [row] })).len()
        };
        assert_eq!(row(json!({})), 1);
        assert_eq!(row(json!({ "undisturbed": false })), 0);
        assert_eq!(row(json!({ "batch": "four" })), 0);
        assert_eq!(row(json!({ "throughput_tok_s": -1.0 })), 0);
        assert_eq!(rows(&json!({ "cycles": 3 })), []);
    }
}

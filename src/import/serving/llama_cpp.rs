//! llama.cpp's acceptance of a request (llama.cpp PR#24536).
//!
//! ```text
//! draft acceptance = 0.64479 (  167 accepted /   259 generated), mean acceptance length =  2.92, acceptance rate per position = (0.805, 0.632, 0.483)
//! statistics draft-eagle3: #calls(b,g,a) = 1 87 87, ... dur(b,g,a) = 0.005, 325.555, 0.114 ms
//! ```
//!
//! Drafts follow from the mean, 1 + accepted / drafts, and must agree with the rates per position. Draft lengths vary
//! (`p-min`), so the rate of accepted over generated tokens compares nothing (llama.cpp PR#23869) and is only checked. The
//! statistics tell the draft time per cycle, not the cycle.

use super::interval::Counted;
use super::printed::Printed;
use super::vllm::{after, counts};

/// What a line tells of one request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Acceptance {
    pub(super) counted: Counted,
    /// Mean acceptance length as printed.
    pub(super) length: Printed,
}

/// Reads an acceptance line; none where nothing was drafted.
///
/// # Errors
/// What makes it unreadable or inconsistent.
pub(super) fn acceptance(line: &str) -> Result<Option<Acceptance>, &'static str> {
    const CUT: &str = "the record was cut";
    let rate =
        after(line, "draft acceptance =").or_else(|| after(line, "draft acceptance rate =")).ok_or(CUT)?;
    let (rate, rest) = rate.split_once('(').ok_or(CUT)?;
    let (accepted, rest) = rest.split_once("accepted /").ok_or(CUT)?;
    let (generated, rest) = rest.split_once("generated)").ok_or(CUT)?;
    let number = |text: &str| text.trim().parse::<u64>().map_err(|_| "a count is no whole number");
    let (accepted, drafted) = (number(accepted)?, number(generated)?);
    if drafted == 0 {
        return Ok(None);
    }
    let rate = Printed::parse(rate.trim()).ok_or("the acceptance is no number")?;
    if accepted > drafted || !rate.may_be(accepted as f64 / drafted as f64) {
        return Err("the acceptance is not accepted / generated");
    }
    let length = after(rest, "mean acceptance length =")
        .ok_or("no mean acceptance length: the number of drafts is unknown")?;
    let length = Printed::parse(length.split(',').next().unwrap_or("").trim())
        .filter(|length| length.half < 0.01)
        .ok_or("the mean is no number with two decimals")?;
    let list = after(rest, "acceptance rate per position =").and_then(|list| list.trim().strip_prefix('('));
    let rates: Option<Vec<Printed>> = match list {
        Some(list) => {
            list.split_once(')').ok_or(CUT)?.0.split(',').map(|rate| Printed::parse(rate.trim())).collect()
        }
        None => Some(Vec::new()),
    };
    let rates = rates.ok_or("a rate per position is no number")?;
    let (drafts, positions) = drafts(accepted, length, &rates)?;
    let counted = Counted { drafts, drafted, accepted, rounded: !positions.is_empty(), positions };
    Ok(Some(Acceptance { counted, length }))
}

/// The number of drafts that agrees with the mean and with whole counts at every position.
fn drafts(accepted: u64, length: Printed, rates: &[Printed]) -> Result<(u64, Vec<u64>), &'static str> {
    const DISAGREE: &str = "accepted, the mean and the rates per position disagree";
    if accepted == 0 {
        return Err("nothing was accepted: the number of drafts is unknown");
    }
    let low = accepted as f64 / (length.value + length.half - 1.0);
    let high = accepted as f64 / (length.value - length.half - 1.0).max(1e-3);
    // From the likeliest number outwards.
    let middle = if rates.is_empty() {
        accepted as f64 / (length.value - 1.0)
    } else {
        accepted as f64 / rates.iter().map(|rate| rate.value).sum::<f64>()
    };
    if !(low.is_finite() && high.is_finite() && middle.is_finite()) {
        return Err(DISAGREE);
    }
    let (low, high, middle) = (low.ceil() as u64, high.floor() as u64, middle.round() as u64);
    for away in 0..=1000 {
        for drafts in [middle.saturating_sub(away), middle.saturating_add(away)] {
            if drafts < low || drafts > high || drafts == 0 {
                continue;
            }
            if !length.may_be(1.0 + accepted as f64 / drafts as f64) {
                continue;
            }
            if rates.is_empty() {
                return Ok((drafts, Vec::new()));
            }
            if let Some(positions) = counts(drafts, accepted, rates) {
                return Ok((drafts, positions));
            }
        }
    }
    Err(DISAGREE)
}

/// Draft time per generated draft [ms], and drafts, of a statistics line.
pub(super) fn draft_time(line: &str) -> Option<(f64, u64)> {
    let calls: Vec<u64> = after(line, "#calls(b,g,a) =")?
        .split(',')
        .next()?
        .split_whitespace()
        .map_while(|n| n.parse().ok())
        .collect();
    let times: Vec<f64> = after(line, "dur(b,g,a) =")?
        .split_once(" ms")?
        .0
        .split(',')
        .map_while(|n| Printed::parse(n.trim()).map(|p| p.value))
        .collect();
    match (calls[..].get(1), times[..].get(1)) {
        (Some(calls), Some(time)) if *calls > 0 && times.len() == 3 => Some((time / *calls as f64, *calls)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "draft acceptance = 0.64479 (  167 accepted /   259 generated), mean acceptance length =  2.92, \
                        acceptance rate per position = (0.805, 0.632, 0.483)";

    #[test]
    fn the_published_line() {
        let found = acceptance(LINE).expect("readable").expect("drafted");
        assert_eq!((found.counted.drafts, found.counted.accepted, found.counted.drafted), (87, 167, 259));
        assert_eq!(found.counted.positions, [70, 55, 42]);
        assert!(found.length.may_be(1.0 + 167.0 / 87.0));
        let (draft, drafts) = draft_time(
            "statistics draft-eagle3: #calls(b,g,a) = 1 87 87, #gen drafts = 87, dur(b,g,a) = 0.005, 325.555, 0.114 ms",
        )
        .expect("readable");
        assert!((draft - 3.74).abs() < 0.005);
        assert_eq!(drafts, 87);
    }

    #[test]
    fn cut_and_altered_lines_are_refused() {
        let whole = acceptance(LINE).expect("readable");
        for end in 0..LINE.len() {
            match acceptance(&LINE[..end]) {
                Err(_) => {}
                // Without its positions the line still tells accepted tokens and the mean.
                Ok(found) => assert_eq!(
                    found.map(|f| (f.counted.drafts, f.counted.accepted)),
                    whole.clone().map(|f| (f.counted.drafts, f.counted.accepted)),
                    "{}",
                    &LINE[..end]
                ),
            }
        }
        for (from, to) in
            [("167", "176"), ("2.92", "3.92"), ("2.92", "0.92"), ("0.632", "0.532"), ("259", "295")]
        {
            assert!(acceptance(&LINE.replace(from, to)).is_err(), "{from} {to}");
        }
        let none =
            "draft acceptance = 0.00000 (    0 accepted /     0 generated), mean acceptance length =  1.00";
        assert_eq!(acceptance(none), Ok(None));
        assert_eq!(draft_time("#calls(b,g,a) = 1 0 0, dur(b,g,a) = 0.1, 0.2, 0.3 ms"), None);
    }
}

//! Laws of acceptance for what was imported, and what the data say about each.

use std::fmt::Write as _;

use super::decoding::{count, wrapped};
use crate::import::serving::{Counted, Digest};
use crate::sourced::SPREAD_DEVIATIONS;
use crate::speculation::{
    Acceptance, ChiSquare, Counts, DraftShape, Fits, Recommended, solve_rate, student_quantile,
    wilson_interval,
};
use crate::units::{AcceptLength, significant};

/// Below this p-value a law counts as refuted, as in [`Fits`].
const REFUTED: f64 = 0.05;

/// Intervals this much more unlike than chance make them are said to differ.
const UNLIKE: f64 = 1.5;

/// Intervals that tell how intervals differ.
const ENOUGH: u64 = 8;

/// A mean, and the range that holds it nine times in ten where something tells it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub(super) value: f64,
    pub(super) ends: Option<(f64, f64)>,
}

/// What follows from a digest.
pub(super) struct Acceptances {
    /// Mean accept length.
    pub(super) length: Option<Range>,
    /// Counts by position and the laws fitted to them.
    pub(super) fits: Option<Fits>,
    /// The counts these come from.
    pub(super) counted: Option<Counted>,
    /// Other depths that were counted too.
    pub(super) other_depths: usize,
    /// Drafted tokens k.
    pub(super) depth: Option<u32>,
    /// The one rate that yields the mean, where only that is known, and k.
    pub(super) rate: Option<f64>,
    /// Variance between intervals over that of chance.
    pub(super) dispersion: Option<f64>,
}

impl Acceptances {
    /// Fits everything that can be fitted.
    pub(super) fn of(digest: &Digest) -> Self {
        let counted = digest.most_counted().cloned();
        let counts = counted.as_ref().and_then(|c| Counts::from_positions(c.drafts, &c.positions).ok());
        let fits = counts.map(Fits::new);
        let depth = fits.as_ref().map(|fits| fits.counts.drafted()).or_else(|| digest.depth());
        let mean = digest.lengths.mean();
        // A tree accepts along its best branch: its mean is that of no chain.
        let tree = digest.flags.iter().any(|flags| flags.topk.is_some_and(|topk| topk > 1));
        let rate = mean
            .zip(depth)
            .filter(|_| fits.is_none() && !tree)
            .and_then(|(mean, k)| solve_rate(AcceptLength::new(mean), k).ok());
        let other_depths =
            digest.counts.values().filter(|c| !c.positions.is_empty()).count().saturating_sub(1);
        let mut found = Self { length: None, fits, counted, other_depths, depth, rate, dispersion: None };
        found.dispersion = found.variance().and_then(|chance| Some(digest.lengths.dispersion()? / chance));
        found.length = found.range(digest);
        found
    }

    /// Variance of one cycle's accept length, by the counts, or by one rate.
    fn variance(&self) -> Option<f64> {
        let shape = DraftShape::chain(self.depth?);
        let variance = match (&self.fits, self.rate) {
            (Some(fits), _) => {
                let histogram: Vec<f64> = fits.counts.histogram().iter().map(|c| *c as f64).collect();
                Acceptance::histogram(&histogram).ok()?.variance(shape)
            }
            (None, Some(rate)) => Acceptance::geometric(rate).ok()?.variance(shape),
            (None, None) => return None,
        };
        (variance > 1e-9).then_some(variance)
    }

    /// The mean with its range: the wider one of the sampling error and of how intervals differ.
    fn range(&self, digest: &Digest) -> Option<Range> {
        let value = digest.lengths.mean()?;
        let sampling = self
            .variance()
            .map(|variance| SPREAD_DEVIATIONS * (variance / digest.lengths.cycles.max(1.0)).sqrt());
        let intervals = digest.lengths.intervals;
        let between = digest
            .lengths
            .standard_error()
            .zip(student(intervals))
            // A handful of intervals says little about how they differ.
            .filter(|_| sampling.is_none() || intervals >= ENOUGH)
            .map(|(error, deviations)| deviations * error);
        let half = sampling.into_iter().chain(between).reduce(f64::max);
        let most = self.depth.map_or(f64::INFINITY, |k| f64::from(k) + 1.0).max(value);
        Some(Range { value, ends: half.map(|half| ((value - half).max(1.0), (value + half).min(most))) })
    }

    /// Whether intervals differ more than chance would make them.
    pub(super) fn steadiness_words(&self) -> Option<String> {
        let dispersion = self.dispersion?;
        let ratio = significant(dispersion, 2);
        Some(if dispersion > UNLIKE {
            format!("intervals differ {ratio} times as much as chance alone: requests or texts differ")
        } else {
            format!("intervals differ {ratio} times as much as chance alone: one mean holds throughout")
        })
    }

    /// The laws, in words and numbers.
    pub(super) fn text(&self, out: &mut String) {
        match (&self.fits, &self.counted) {
            (Some(fits), Some(counted)) => self.counted_text(fits, counted, out),
            _ if self.length.is_some() => self.mean_text(out),
            _ => {}
        }
    }

    fn mean_text(&self, out: &mut String) {
        out.push_str("\nWhat the data support\n");
        match (self.rate, self.depth) {
            (Some(rate), Some(k)) => {
                let _ = writeln!(
                    out,
                    "  one rate       {rate:.3} at each of {k} drafted tokens yields this mean; untested"
                );
            }
            _ => wrapped(
                "no chain of a known number of drafted tokens is told, so that no rate follows from the mean",
                "  ",
                out,
            ),
        }
        wrapped(
            "Only means were printed, no counts by position: that every position has the same rate is an \
             assumption. vLLM's log, its counters, and histograms in answers tell positions.",
            "  ",
            out,
        );
    }

    fn counted_text(&self, fits: &Fits, counted: &Counted, out: &mut String) {
        out.push('\n');
        let counts = format!(
            "What the data support: {} drafts of {} tokens, {} accepted{}",
            count(counted.drafts),
            fits.counts.drafted(),
            count(counted.accepted),
            if counted.rounded { ", by rounded rates" } else { "" }
        );
        wrapped(&counts, "", out);
        let rate = &fits.geometric.rate;
        let _ = writeln!(
            out,
            "  one rate       {:.3} ({:.3} to {:.3}); {}",
            rate.rate,
            rate.interval.low,
            rate.interval.high,
            tested(fits.geometric.goodness)
        );
        let positions: Vec<String> = fits
            .positions
            .iter()
            .map(|p| format!("{:.3} ({:.3} to {:.3})", p.rate, p.interval.low, p.interval.high))
            .collect();
        listed("  per position   ", &positions, out);
        out.push_str("                 given that all before it were accepted\n");
        let reached: Vec<String> = counted
            .positions
            .iter()
            .map(|count| format!("{:.3}", *count as f64 / counted.drafts as f64))
            .collect();
        listed("  cumulative     ", &reached, out);
        out.push_str("                 of all drafts, as vLLM prints per position\n");
        let all = fits.counts.cycles();
        let cells: Vec<String> = fits
            .counts
            .histogram()
            .iter()
            .enumerate()
            .map(|(n, count)| {
                let ends = wilson_interval(*count, all);
                let percent = |share: f64| significant(100.0 * share, 3);
                let share = *count as f64 / all as f64;
                format!("{n}: {} % ({} to {})", percent(share), percent(ends.low), percent(ends.high))
            })
            .collect();
        listed("  histogram      ", &cells, out);
        match &fits.beta {
            Some(fit) => {
                let law = &fit.law;
                let _ = writeln!(
                    out,
                    "  rates differ   mean {:.3} ({:.3} to {:.3}), dispersion {:.3} ({:.3} to {:.3}),\n                 \
                     Beta({:.2}, {:.2}); {}",
                    law.alpha() / (law.alpha() + law.beta()),
                    fit.mean_rate.low,
                    fit.mean_rate.high,
                    1.0 / (law.alpha() + law.beta()),
                    fit.dispersion.low,
                    fit.dispersion.high,
                    law.alpha(),
                    law.beta(),
                    tested(fit.goodness)
                );
            }
            None => out
                .push_str("  rates differ   no: no spread of rates between requests is likelier than none\n"),
        }
        wrapped(&format!("Use {}: {}.", name(fits.recommended), fits.recommended.because()), "  ", out);
        if self.other_depths > 0 {
            wrapped(
                &format!(
                    "{} other numbers of drafted tokens were counted too; the commonest is shown.",
                    self.other_depths
                ),
                "  ",
                out,
            );
        }
    }
}

/// Deviations of a range that holds nine times in ten, when the error was estimated from so many intervals.
fn student(intervals: u64) -> Option<f64> {
    let freedom = intervals.checked_sub(1).filter(|freedom| *freedom > 0)?;
    Some(student_quantile(freedom as f64, 0.95))
}

/// The law's name in reports.
pub(super) const fn name(recommended: Recommended) -> &'static str {
    match recommended {
        Recommended::Geometric | Recommended::GeometricUntested => "one rate",
        Recommended::Beta => "a rate that differs between requests",
        Recommended::Positions => "one rate per position",
    }
}

fn tested(goodness: Option<ChiSquare>) -> String {
    match goodness {
        None => "untested: too few counts or positions".to_owned(),
        Some(test) if test.p_value < REFUTED => format!("refuted, p {}", p_value(test.p_value)),
        Some(test) => format!("not refuted, p {}", p_value(test.p_value)),
    }
}

fn p_value(p: f64) -> String {
    if p < 1e-4 { "< 0.0001".to_owned() } else { significant(p, 2) }
}

/// Items after a heading, as many to a line as fit.
fn listed(head: &str, items: &[String], out: &mut String) {
    let indent = " ".repeat(head.len());
    let mut line = head.to_owned();
    for item in items {
        if line.chars().count() + item.chars().count() > 78 && line.len() > head.len() {
            let _ = writeln!(out, "{}", line.trim_end());
            line.clone_from(&indent);
        }
        line.push_str(item);
        line.push_str("  ");
    }
    let _ = writeln!(out, "{}", line.trim_end());
}

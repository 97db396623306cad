//! Draws the plots of a simulation.

use std::path::Path;

use super::exit::Failure;
use super::plots::save;
use crate::machine::{Distribution, Trace};
use crate::report::{self, plot};
use crate::serving::{Arrivals, CdfPoint, Latency, ServingResult, Slo};
use crate::simulation::{
    Activity, LoadPoint, LoadUnit, MachineAnswer, Outcome, ServingAnswer, Window, window,
};
use crate::units::{Seconds, significant};

/// All-reduces in the window of a timeline: two layers.
const ALLREDUCES: u32 = 4;

/// The distribution of verify times, and the timeline of one run.
pub(super) fn machine(
    folder: &Path,
    answer: &MachineAnswer,
    trace: &Trace,
    run: u32,
    words: &str,
) -> Result<Vec<String>, Failure> {
    let mut written = Vec::new();
    let svg = plot::time_distribution(&distribution(answer, words));
    written.extend(save(&folder.join("verify-distribution"), &svg)?);
    if let Some(window) = window(trace, ALLREDUCES) {
        let svg = plot::timeline(&timeline(&window, run, words));
        written.extend(save(&folder.join("timeline"), &svg)?);
    }
    Ok(written)
}

fn distribution(answer: &MachineAnswer, words: &str) -> plot::TimeDistribution {
    let verify = &answer.result.verify_ms;
    let (low, high) = (Seconds::from_ms(verify.p10()), Seconds::from_ms(verify.p90()));
    let observed = answer.verify.observed.map(|observed| observed.time.value);
    let range = match (low.to_string(), high.to_string()) {
        (low, high) if low == high => low,
        (low, high) => format!("{low} to {high}"),
    };
    let title = match &answer.verify.observed {
        Some(observed) if observed.percentile > 0.0 && observed.percentile < 100.0 => {
            format!("Verify takes {range} in 80 % of the runs; {} were observed", observed.time.value)
        }
        _ => format!("Verify takes {range} in 80 % of the runs"),
    };
    plot::TimeDistribution {
        setup: words.to_owned(),
        title,
        what: "time of one verify pass".to_owned(),
        cells: cells(verify),
        range: (low, high),
        mean: Seconds::from_ms(verify.mean()),
        closed: answer.verify.closed,
        observed,
    }
}

/// A histogram of about √n cells, 8 to 40; a sample without width is one narrow cell.
fn cells(sample: &Distribution) -> Vec<(Seconds, Seconds, f64)> {
    let values = sample.values();
    let (low, high) = (values[0], values[values.len() - 1]);
    if high - low < 1e-6 * high {
        let half = high * 1e-3;
        return vec![(Seconds::from_ms(high - half), Seconds::from_ms(high + half), 100.0)];
    }
    let count = (values.len() as f64).sqrt().clamp(8.0, 40.0).round() as usize;
    let width = (high - low) / count as f64;
    let edge = |i: usize| low + width * i as f64;
    (0..count)
        .map(|i| {
            let before = if i == 0 { 0 } else { values.partition_point(|v| *v < edge(i)) };
            let after =
                if i + 1 == count { values.len() } else { values.partition_point(|v| *v < edge(i + 1)) };
            let share = 100.0 * (after - before) as f64 / values.len() as f64;
            (Seconds::from_ms(edge(i)), Seconds::from_ms(edge(i + 1)), share)
        })
        .collect()
}

fn timeline(window: &Window, run: u32, words: &str) -> plot::Timeline {
    let slices = |all: &[(Seconds, Seconds, Activity)]| {
        all.iter().map(|&(from, to, activity)| (from, to, doing(activity))).collect()
    };
    let lanes = window.lanes.iter().zip(0..).map(|(lane, rank)| plot::RankLane {
        rank,
        host: slices(&lane.host),
        stream: slices(&lane.stream),
    });
    plot::Timeline {
        setup: format!("{words}; run {run}, {} all-reduces in the middle of verify", window.allreduces),
        title: match window.waiting_share {
            share if share > 0.02 => {
                format!("Streams spend {:.0} % of this window waiting for the last rank", 100.0 * share)
            }
            _ => "In this window no stream waits for another rank".to_owned(),
        },
        window: (window.from, window.to),
        lanes: lanes.collect(),
    }
}

const fn doing(activity: Activity) -> plot::Doing {
    match activity {
        Activity::Host => plot::Doing::Issue,
        Activity::Kernel => plot::Doing::Kernel,
        Activity::Waiting => plot::Doing::Waiting,
        Activity::Collective => plot::Doing::Collective,
    }
}

/// Latencies of the scenario's load, and throughput over other loads.
pub(super) fn serving(folder: &Path, answer: &ServingAnswer, words: &str) -> Result<Vec<String>, Failure> {
    let mut written = Vec::new();
    let svg = plot::latency_distributions(&latencies(answer, words));
    written.extend(save(&folder.join("latency-distributions"), &svg)?);
    if answer.loads.len() > 1 {
        let svg = plot::throughput_against_load(&loads(answer, words));
        written.extend(save(&folder.join("throughput-against-load"), &svg)?);
    }
    Ok(written)
}

fn latencies(answer: &ServingAnswer, words: &str) -> plot::Latencies {
    let slo = answer.config.slo;
    let (with, without) = (&answer.with, &answer.without);
    let points = |latency: &Latency| -> Vec<(Seconds, f64)> {
        latency.cdf.iter().map(|&CdfPoint { value, share }| (value, share)).collect()
    };
    let panel = |name: &str, of: fn(&ServingResult) -> &Latency, limit| plot::LatencyCurves {
        name: name.to_owned(),
        with: points(of(with)),
        without: points(of(without)),
        limit,
    };
    plot::Latencies {
        setup: format!("{words}; {}", report::served_words(&answer.config)),
        title: format!(
            "The median request takes {} with speculation, {} without",
            with.e2e.p50, without.e2e.p50
        ),
        panels: vec![
            panel("to the first token (TTFT)", |r| &r.ttft, slo.ttft),
            panel("per token of a request (TPOT)", |r| &r.tpot, slo.tpot),
            panel("between two deliveries (ITL)", |r| &r.itl, slo.itl),
            panel("to the last token (E2E)", |r| &r.e2e, slo.e2e),
        ],
    }
}

/// Requests that arrive in a second, as the answer has them.
fn offered(answer: &ServingAnswer) -> f64 {
    answer.offered.unwrap_or(answer.with.request_rate)
}

fn loads(answer: &ServingAnswer, words: &str) -> plot::LoadCurves {
    let has_slo = answer.config.slo != Slo::default();
    let side = |result: &ServingResult| plot::LoadSide {
        throughput: result.throughput,
        goodput: has_slo.then_some(result.goodput.throughput),
        latency: result.e2e.mean,
    };
    let (axis, here) = match (answer.loads[0].unit, answer.config.arrivals) {
        (LoadUnit::Users, Arrivals::Closed { users }) => {
            ("users, each with one request at a time", f64::from(users))
        }
        _ => ("load [requests/s]", offered(answer)),
    };
    plot::LoadCurves {
        setup: words.to_owned(),
        title: load_title(&answer.loads),
        axis: axis.to_owned(),
        points: answer.loads.iter().map(|p| (p.load, side(&p.with), side(&p.without))).collect(),
        here: Some(here),
    }
}

fn load_title(loads: &[LoadPoint]) -> String {
    let wins = loads.iter().filter(|point| point.comparison.outcome == Outcome::Wins).count();
    if wins == loads.len() {
        return format!("Speculation pays at each of {wins} loads");
    }
    if wins == 0 {
        return format!("Speculation pays at none of {} loads", loads.len());
    }
    let unit = match loads[0].unit {
        LoadUnit::RequestsPerSecond => "requests/s",
        LoadUnit::Users => "users",
    };
    // A single change is worth a number; more are for the reader to see.
    let first = loads[0].comparison.outcome == Outcome::Wins;
    let turn = loads.iter().position(|point| (point.comparison.outcome == Outcome::Wins) != first);
    let turn = turn.unwrap_or(0);
    let rest_alike = loads[turn..].iter().all(|p| (p.comparison.outcome == Outcome::Wins) != first);
    match (first, rest_alike) {
        (true, true) => format!("Speculation pays up to {} {unit}", significant(loads[turn - 1].load, 3)),
        (false, true) => format!("Speculation pays from {} {unit} on", significant(loads[turn].load, 3)),
        _ => format!("Speculation pays at {wins} of {} loads", loads.len()),
    }
}

use super::*;
use crate::calibration;
use crate::collective::Policy;
use crate::cost::price;
use crate::forward::{Batch, ExpertOverlap, Parallelism, PassKind, build};
use crate::hardware::{self, Hardware};
use crate::model::{self, Model};
use crate::runtime::{Runtime, RuntimeKind};

struct Box8 {
    hardware: Hardware,
    calibration: Calibration,
    model: Model,
    runtime: Runtime,
    policy: Policy,
}

impl Box8 {
    fn kimi() -> Self {
        Self {
            hardware: hardware::preset("rtx-pro-6000-x8").expect("a preset"),
            calibration: calibration::preset("rtx-pro-6000-x8").expect("a preset"),
            model: model::preset("kimi-k2.5").expect("a preset"),
            runtime: Runtime::profile(RuntimeKind::Sglang),
            policy: Policy::default(),
        }
    }

    fn pass(&self, rows: u32, execution: Execution) -> (PricedPass, Elastic) {
        let parallel = Parallelism::tensor(8);
        let batch = Batch { requests: 1, rows, context: 2048 };
        let kind = if rows > 1 { PassKind::Verify } else { PassKind::Decode };
        let pass = build(&self.model, parallel, &self.runtime, kind, batch, ExpertOverlap::default());
        let with = Pricing {
            hardware: &self.hardware,
            calibration: &self.calibration,
            runtime: &self.runtime,
            execution,
            policy: &self.policy,
        };
        let priced = price(&pass, &with);
        let elastic = Elastic::new(&priced, &with);
        (priced, elastic)
    }
}

const ZERO: Scores = [0.0; Cause::ALL.len()];

fn with(cause: Cause, score: f64) -> Scores {
    let mut scores = ZERO;
    scores[cause as usize] = score;
    scores
}

#[test]
fn causes_stand_at_their_own_place() {
    assert!(Cause::ALL.iter().enumerate().all(|(place, cause)| *cause as usize == place));
}

#[test]
fn unmoved_it_is_the_priced_pass() {
    let kimi = Box8::kimi();
    for execution in [Execution::Graph, Execution::Eager] {
        for rows in [1, 3] {
            let (priced, elastic) = kimi.pass(rows, execution);
            let same = elastic.at(&ZERO);
            let near = |a: Seconds, b: Seconds| (a.get() - b.get()).abs() <= 1e-9 * b.get().max(1e-9);
            assert!(near(same.time.value, priced.time.value), "{execution:?} {rows}");
            assert!(near(same.device_time, priced.device_time) && near(same.issue_time, priced.issue_time));
            assert!(near(same.launch, priced.launch));
            assert!(near(same.allreduce.total, priced.allreduce.total));
            assert_eq!(same.allreduce.count, priced.allreduce.count);
        }
    }
}

#[test]
fn slower_collectives_move_decode_and_verify_by_their_share() {
    let kimi = Box8::kimi();
    let scores = with(Cause::Nccl, SPREAD_DEVIATIONS);
    for rows in [1, 3] {
        let (priced, elastic) = kimi.pass(rows, Execution::Graph);
        let (_, high) = elastic.range(Cause::Nccl).expect("collectives have a range");
        assert!((high - 1.1).abs() < 0.051, "10 % for measured rows, 15 % for modelled ones: {high}");
        let moved = elastic.at(&scores);
        let more = moved.allreduce.total / priced.allreduce.total;
        assert!((1.09..1.16).contains(&more), "{more}");
        let share = moved.time.value - priced.time.value;
        assert!(share > Seconds::ZERO && share < priced.time.value * 0.1);
    }
}

#[test]
fn a_host_bound_pass_follows_the_host_and_not_the_gpu() {
    let (priced, elastic) = Box8::kimi().pass(3, Execution::Eager);
    assert!(priced.host_bound());
    let time = |scores: &Scores| elastic.at(scores).time.value;
    let host = time(&with(Cause::HostIssue, SPREAD_DEVIATIONS)) / priced.time.value;
    assert!((1.15..1.45).contains(&host), "{host}");
    let memory = time(&with(Cause::Bandwidth, SPREAD_DEVIATIONS)) / priced.time.value;
    assert!((1.0..1.01).contains(&memory), "{memory}");
    assert!(elastic.range(Cause::GraphLaunch).is_none(), "nothing is launched as a graph");
}

#[test]
fn samples_of_a_table_give_its_kernels_a_cause_of_their_own() {
    let file = "format: specplan-calibration/1\nbox: { gpu: rtx-pro-6000, count: 8 }\n\
        provenance: { source: made up, licence: none }\ntables:\n  collectives: |\n    \
        op,ranks,family,mode,transport,bytes,median_us,p10_us,p90_us,samples\n    \
        all-reduce,8,nccl,graph,p2p,1024,20,19,23,100\n    all-reduce,8,nccl,graph,p2p,1048576,200,190,230,100\n";
    let mut kimi = Box8::kimi();
    kimi.calibration = calibration::parse("made-up", file, &|_| Ok(Vec::new())).expect("well formed");
    let (priced, elastic) = kimi.pass(3, Execution::Graph);
    let reach = SPREAD_DEVIATIONS / 1.281_551_565_545;
    for (score, tenth) in [(-SPREAD_DEVIATIONS, 0.95_f64), (SPREAD_DEVIATIONS, 1.15)] {
        let moved = elastic.at(&with(Cause::Nccl, score)).allreduce.total / priced.allreduce.total;
        assert!((moved - tenth.powf(reach)).abs() < 1e-9, "{moved}");
    }
    // Collectives without rows are modelled, with 15 %.
    let (low, _) = elastic.range(Cause::Nccl).expect("a range");
    assert!((low - 1.0 / 1.15).abs() < 1e-9, "{low}");
}

#[test]
fn attention_between_rows_has_the_range_of_its_own_gpus_table() {
    let accuracy = include_str!("../../calibration/ACCURACY.md");
    let p90 = |gpu: &str, axis: &str| -> f64 {
        let begin =
            format!("| {} | attention | {axis} |", gpu.trim_end_matches("-server").trim_end_matches("-sxm"));
        let line = accuracy.lines().find(|line| line.starts_with(&begin)).expect("a row");
        let linear = line.split('|').nth(5).expect("a column");
        let figure = linear.split(", ").nth(1).expect("two figures").trim().trim_end_matches(" %");
        figure.parse::<f64>().expect("a number") / 100.0
    };
    for (gpu, range) in BETWEEN_ATTENTION {
        let half = (p90(gpu, "batch") + p90(gpu, "context")) / 4.0;
        assert!((half - range).abs() < 0.001, "{gpu}: {half} {range}");
        let family = gpu.trim_end_matches("-server").trim_end_matches("-sxm");
        assert!(hardware::preset(&format!("{family}-x8")).is_some_and(|box8| box8.gpu.name == gpu));
        assert!((between("attention", gpu) - range).abs() < 1e-12);
        assert!((between("mla_attention", gpu) - BETWEEN_ROWS).abs() < 1e-12);
    }
    let mut ranges = BETWEEN_ATTENTION.map(|(_, range)| range);
    ranges.sort_by(f64::total_cmp);
    assert!((between("attention", "another") - ranges[1]).abs() < 1e-12);
}

#[test]
fn a_fit_that_misses_half_its_rows_by_a_tenth_has_a_deviation_of_a_seventh() {
    let file = "format: specplan-calibration/1\nbox: { gpu: rtx-pro-6000, count: 8 }\n\
        provenance: { source: made up, licence: none }\nfits:\n  \
        - { of: { op: all-reduce, ranks: 8, family: nccl, transport: p2p }, form: alpha-beta, \
        params: { alpha_us: 20, beta_us_per_kib: [0.1] }, range: { from_bytes: 8, to_bytes: 1000000000 }, \
        cv_error: 0.1, source: fitted }\n";
    let mut kimi = Box8::kimi();
    kimi.calibration = calibration::parse("made-up", file, &|_| Ok(Vec::new())).expect("well formed");
    let (priced, elastic) = kimi.pass(3, Execution::Graph);
    let moved = elastic.at(&with(Cause::Nccl, SPREAD_DEVIATIONS)).allreduce.total / priced.allreduce.total;
    // Half of a normal distribution lies within 0.6745 deviations.
    let deviation = 0.1 / 0.674_49;
    assert!((moved - (1.0 + 1.644_854 * deviation)).abs() < 1e-4, "{moved}");
}

//! Tests of the planner: what is planned for which box, and how long it may take.

use std::collections::BTreeSet;

use super::*;
use crate::calibration::measure::Meter as _;
use crate::calibration::measure::synthetic::Synthetic;
use crate::calibration::measure::task::{End, LinkKind};
use crate::calibration::{Family, Mode};
use crate::collective::{Algorithm, Protocol, Transport};

fn found(words: &str) -> Inspection {
    Synthetic::parse(words).unwrap().inspect().unwrap()
}

fn wish(depth: Depth, parts: &[Part]) -> Wish {
    let parts: BTreeSet<Part> =
        if parts.is_empty() { Part::ALL.into() } else { parts.iter().copied().collect() };
    Wish { depth, parts, shapes: None, environment: Vec::new() }
}

fn shapes() -> Shapes {
    Shapes {
        gemms: [(WeightFormat::Bf16, 1024, 7168), (WeightFormat::Nvfp4, 512, 512)].into(),
        row_bytes: [14_336].into(),
        gathered_row_bytes: [40_960].into(),
        hidden: 7168,
        vocabulary: 163_840,
        context: 3000,
        batch: 1,
        ranks: 4,
        ..Shapes::default()
    }
}

fn collectives(plan: &Plan) -> Vec<(&Group, &crate::calibration::measure::CollectiveTask)> {
    plan.tasks()
        .filter_map(|(group, request)| match &request.task {
            Task::Collective(task) => Some((group, task)),
            _ => None,
        })
        .collect()
}

#[test]
fn plans_keep_their_time() {
    let quick: Vec<Part> = Part::ALL.into_iter().filter(|part| *part != Part::Variants).collect();
    let seconds = |depth, parts: &[Part], gpus: u32| {
        plan(&wish(depth, parts), &found(&format!("gpus={gpus}"))).duration(gpus).get()
    };
    assert!(seconds(Depth::Quick, &quick, 2) < 60.0);
    assert!(seconds(Depth::Full, &[], 2) < 240.0);
    // More GPUs have more worlds and pairs, and still take minutes.
    assert!(seconds(Depth::Full, &[], 8) < 480.0);
    assert!(seconds(Depth::Full, &[], 8) > seconds(Depth::Full, &[], 2));
}

#[test]
fn a_plan_depends_on_wish_and_box_alone_and_numbers_its_tasks() {
    let make = || plan(&wish(Depth::Full, &[]), &found("gpus=4"));
    let made = make();
    assert_eq!(made, make());
    let numbers: Vec<u32> = made.tasks().map(|(_, request)| request.id).collect();
    assert_eq!(numbers, (1..=numbers.len() as u32).collect::<Vec<_>>());
    for group in &made.groups {
        for (at, request) in group.tasks.iter().enumerate() {
            assert!(
                group.tasks[..at].iter().all(|earlier| earlier.task != request.task),
                "{:?}",
                request.task
            );
            assert!(request.repeats > 0 && request.limit_ms >= 10_000);
        }
    }
}

#[test]
fn worlds_are_the_powers_of_two_and_all() {
    for (gpus, worlds) in
        [(2, vec![2]), (3, vec![2, 3]), (4, vec![2, 4]), (8, vec![2, 4, 8]), (6, vec![2, 4, 6])]
    {
        let made = plan(&wish(Depth::Quick, &[Part::Collectives]), &found(&format!("gpus={gpus}")));
        let ranks: BTreeSet<u32> = collectives(&made).iter().map(|(_, task)| task.ranks).collect();
        assert_eq!(ranks.into_iter().collect::<Vec<_>>(), worlds);
    }
}

#[test]
fn all_reduces_of_graphs_stand_between_projections_whoever_does_them() {
    let made = plan(&wish(Depth::Full, &[Part::Collectives]), &found("gpus=8"));
    for (_, task) in collectives(&made) {
        let reduces = task.op == crate::runtime::CollectiveOp::AllReduce;
        assert_eq!(task.between_gemms.is_some(), task.mode == Mode::Graph && reduces, "{task:?}");
        // A chain hides the synchronisation at its end, in eager mode too.
        assert!(task.chain >= 4 && (task.chain == 20 || task.bytes >= 1 << 20), "{task:?}");
        // The projection is that of this task's ranks, however many GPUs there are.
        assert!(task.between_gemms.is_none_or(|gemm| gemm.k == gemm.n / task.ranks), "{task:?}");
        assert!(task.bytes % 4 == 0);
    }
    let modes: BTreeSet<Mode> = collectives(&made).iter().map(|(_, task)| task.mode).collect();
    assert_eq!(modes.len(), 3);
    let own = |family| collectives(&made).iter().any(|(_, task)| task.family == family);
    assert!(own(Family::OneShot) && own(Family::TwoShot));
    let without = plan(&wish(Depth::Full, &[Part::Collectives]), &found("gpus=2,missing=cublas"));
    assert!(!collectives(&without).is_empty());
    assert!(collectives(&without).iter().all(|(_, task)| task.between_gemms.is_none()));
}

#[test]
fn variants_are_every_algorithm_with_every_protocol_and_the_detour() {
    let made = plan(&wish(Depth::Full, &[Part::Variants]), &found("gpus=2"));
    let forced: Vec<_> = made.groups.iter().map(|g| (g.variant.algorithm, g.variant.protocol)).collect();
    assert_eq!(forced.len(), 7);
    assert_eq!(forced[0], (Some(Algorithm::Ring), Some(Protocol::Ll)));
    assert_eq!(made.groups[6].variant.environment, [("NCCL_P2P_DISABLE".to_owned(), "1".to_owned())]);
    assert_eq!(made.groups[6].variant.transport, Transport::Shm);
    // Without P2P there is no detour left to take, and a user's own choice is not overruled.
    assert_eq!(plan(&wish(Depth::Full, &[Part::Variants]), &found("p2p=no")).groups.len(), 6);
    let mut set = wish(Depth::Full, &[Part::Variants]);
    set.environment = vec![("NCCL_ALGO".to_owned(), "Tree".to_owned())];
    let made = plan(&set, &found("gpus=2"));
    assert_eq!(made.groups.len(), 1);
    assert_eq!(made.left_out[0].because, "NCCL_ALGO or NCCL_PROTO is set already");
}

#[test]
fn transport_follows_the_box_and_its_variables() {
    let of = |words: &str, set: &[(&str, &str)]| {
        let set: Vec<_> = set.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        transport_of(&found(words), &set)
    };
    assert_eq!(of("gpus=2", &[]), Transport::P2p);
    assert_eq!(of("gpus=2,nvlink=yes", &[]), Transport::Nvlink);
    assert_eq!(of("gpus=2,p2p=no", &[]), Transport::Shm);
    assert_eq!(of("gpus=2,nvlink=yes", &[("NCCL_P2P_DISABLE", "1")]), Transport::Shm);
    assert_eq!(of("gpus=2", &[("NCCL_P2P_DISABLE", "0")]), Transport::P2p);
    assert_eq!(of("gpus=2", &[("NCCL_P2P_LEVEL", "LOC")]), Transport::Shm);
}

#[test]
fn a_scenario_sets_shapes_rows_and_messages() {
    let wish = Wish { shapes: Some(shapes()), ..wish(Depth::Full, &[Part::Gemm, Part::Collectives]) };
    let made = plan(&wish, &found("gpus=4"));
    let rows: BTreeSet<u32> = made
        .tasks()
        .filter_map(|(_, request)| match request.task {
            Task::Gemm { n: 1024, k: 7168, rows, .. } => Some(rows),
            _ => None,
        })
        .collect();
    assert!(rows.contains(&1) && rows.contains(&64) && rows.len() >= 10);
    let sizes: BTreeSet<u64> = collectives(&made).iter().map(|(_, task)| task.bytes).collect();
    for rows in [1, 2, 3, 4, 64] {
        assert!(sizes.contains(&(rows * 14_336)), "{rows} rows");
    }
    let what: Vec<&str> = made.left_out.iter().map(|left| left.what.as_str()).collect();
    assert_eq!(what, ["projections stored as nvfp4"]);
}

#[test]
fn every_pair_has_a_copy_and_mapped_ones_a_flag() {
    let made = plan(&wish(Depth::Quick, &[Part::Links]), &found("gpus=4"));
    let links = |wanted: LinkKind| {
        made.tasks()
            .filter(|(_, r)| matches!(r.task, Task::Link { kind, .. } if kind == wanted))
            .map(|(_, r)| r.task.clone())
            .collect::<Vec<_>>()
    };
    let pairs: BTreeSet<(End, End)> = links(LinkKind::Copy)
        .iter()
        .filter_map(|task| match task {
            Task::Link { from, to, .. } => Some((*from, *to)),
            _ => None,
        })
        .collect();
    assert_eq!(pairs.len(), 12);
    assert_eq!(links(LinkKind::Flag).len(), 6);
    assert_eq!(links(LinkKind::AllPairs).len(), 1);
    let without = plan(&wish(Depth::Quick, &[Part::Links]), &found("gpus=4,p2p=no"));
    assert!(without.tasks().all(|(_, r)| !matches!(r.task, Task::Link { kind: LinkKind::Flag, .. })));
}

#[test]
fn what_does_not_fit_is_smaller_or_left_out() {
    let made = plan(&wish(Depth::Full, &[Part::Memory, Part::Gemm]), &found("memory=1000MiB"));
    assert!(!made.left_out.is_empty());
    let l2 = 32 << 20;
    for (_, request) in made.tasks() {
        assert!(memory_of(&request.task, l2) <= (1000 << 20) / 10 * 9, "{:?}", request.task);
    }
    let smaller_or_out = |left: &LeftOut| left.because.contains("are free");
    assert!(made.left_out.iter().all(smaller_or_out), "{:?}", made.left_out);
}

#[test]
fn a_library_that_is_missing_leaves_out_its_tasks_alone() {
    let made = plan(&wish(Depth::Quick, &[Part::Gemm, Part::Links]), &found("missing=cublas"));
    let word = LeftOut { what: "what needs cublas".into(), because: "that library cannot be loaded".into() };
    assert_eq!(made.left_out, [word]);
    assert!(made.groups.iter().all(|group| group.part == Part::Links));
    let made = plan(&wish(Depth::Quick, &[Part::Gemm, Part::Links]), &found("missing=nvrtc"));
    assert!(made.groups.iter().any(|group| group.part == Part::Gemm));
    assert!(made.tasks().all(|(_, r)| !matches!(r.task, Task::Link { kind: LinkKind::Flag, .. })));
}

#[test]
fn smaller_tasks_end() {
    let mut task = Task::Attention {
        kv: KvFormat::Bf16,
        head_dim: 128,
        heads: 8,
        kv_heads: 1,
        batch: 64,
        rows: 1,
        context: 131_072,
    };
    let mut steps = 0;
    while let Some(less) = smaller(&task) {
        assert!(memory_of(&less, 1) < memory_of(&task, 1));
        task = less;
        steps += 1;
    }
    assert!((5..40).contains(&steps), "{steps}");
    assert_eq!(smaller(&Task::Gemm { weights: WeightFormat::Bf16, n: 1, k: 1, rows: 1 }), None);
}

#[test]
fn tasks_read_well() {
    for (task, words) in [
        (Task::Stream { bytes: 96 << 20 }, "read of 96 MiB"),
        (Task::Gemm { weights: WeightFormat::Bf16, n: 8, k: 4, rows: 2 }, "gemm bf16 2 x 4 x 8"),
        (
            Task::Link { kind: LinkKind::HostCopy, from: End::Host, to: End::Gpu(1), bytes: 1500 },
            "host-copy host to 1, 1.5 KiB",
        ),
    ] {
        assert_eq!(describe(&task), words);
    }
}

//! Contradictions between what was observed and what the model says, each with what would settle it.

use std::fmt::Write as _;

use super::known::{Known, common};
use crate::analytic::{Finding, Parts};
use crate::collective::{Request, explain_choice};
use crate::cost::{Pricing, other_way};
use crate::runtime::{CollectiveOp, Execution, RuntimeKind};
use crate::scenario::{ModelledSetup, Setup};
use crate::sourced::Source;
use crate::units::{Bytes, Seconds};

/// An observed figure beyond this factor of the model's is a contradiction, not noise.
const FAR: f64 = 1.25;

/// All findings about a case, the weightiest first.
pub(super) fn findings(setup: &Setup, known: &Known, parts: &Parts) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(cycle_contradicts_verify(setup, known));
    found.extend(broken_baseline(parts));
    found.extend(drafting_unknown(known));
    if let Setup::Modelled(modelled) = setup {
        found.extend(host_bound(modelled, known));
        found.extend(transport_cliff(modelled, known));
        found.extend(split(modelled, known));
        found.extend(baseline_differs(modelled, known));
        found.extend(verify_differs(modelled, known));
        found.extend(allreduce_choice(modelled));
    }
    found.extend(cycle_arithmetic(setup, known));
    found.extend(beyond_rows(parts));
    found
}

/// The host issues verify more slowly than the GPUs run it, and a profiler books the waiting as all-reduce.
fn host_bound(setup: &ModelledSetup, known: &Known) -> Option<Finding> {
    let model = known.model.as_ref()?;
    let verify = &model.verify;
    if !verify.host_bound() {
        return None;
    }
    let device = verify.device_time;
    let observed = known.verify.used.value;
    let mut message = format!(
        "The verify pass is host-bound: issuing it eagerly takes the host {}, running it takes the GPUs {}.",
        verify.issue_time, device,
    );
    if let Some(stated) = setup.common.stated.verify.observed_allreduce {
        let each = stated.total.value / f64::from(stated.count.max(1));
        let model = model_each(known)?;
        if each > model * FAR {
            let _ = write!(
                message,
                " {} in {} all-reduces is {each} each; this box needs {model} for the {} of one. So at most {} of \
                 the {} is transfer: the rest is ranks that wait, inside the collective, for the slowest host, and a \
                 profiler books that as all-reduce.",
                stated.total.value,
                stated.count,
                message_size(setup, setup.common.draft_tokens),
                model * f64::from(stated.count),
                stated.total.value,
            );
        }
    }
    let graph = in_a_graph(setup);
    if observed > graph * FAR {
        let _ = write!(message, " In a CUDA graph the same pass would take about {graph}.");
    }
    Some(Finding { code: "host-bound-verify", message, settle: host_bound_tests(setup, known) })
}

/// The verify pass of the setup, replayed from a graph.
fn in_a_graph(setup: &ModelledSetup) -> Seconds {
    let mut graph = setup.clone();
    graph.verify.execution = Execution::Graph;
    super::passes::cycle(&graph).verify.time.value
}

fn host_bound_tests(setup: &ModelledSetup, known: &Known) -> Vec<String> {
    let mut tests: Vec<String> = all_reduce_unless_measured(setup, known).into_iter().collect();
    match setup.runtime.kind {
        RuntimeKind::Sglang => {
            tests.push(
                "grep 'cuda graph' in the server log: `cuda graph: False` beside an accept length".into(),
            );
            tests.push(
                "serve the baseline with --disable-cuda-graph: a host-bound box drops to eager speed".into(),
            );
        }
        RuntimeKind::Vllm => {
            tests.push(
                "serve the baseline with --enforce-eager: a host-bound box drops to eager speed".into(),
            );
        }
        RuntimeKind::Pytorch | RuntimeKind::Cuda => {}
    }
    tests.push(
        "profile all ranks; per NCCL kernel take the minimum over the ranks: the last arriver shows the true cost"
            .into(),
    );
    tests.push("verify 1 row instead of more: a host-bound pass takes equally long".into());
    tests
}

/// One all-reduce of verify costs so much more than the table says that another transport may be at work.
fn transport_cliff(setup: &ModelledSetup, known: &Known) -> Option<Finding> {
    let stated = setup.common.stated.verify.observed_allreduce?;
    let each = stated.total.value / f64::from(stated.count.max(1));
    let model = model_each(known)?;
    if each < model * 2.0 {
        return None;
    }
    let (decode, verify) = (message_size(setup, 1), message_size(setup, setup.common.draft_tokens));
    Some(Finding {
        code: "transport-cliff",
        message: format!(
            "If the passes do run in CUDA graphs, {each} for {verify} points to a transport cliff between {decode} \
             (decode) and {verify} (verify): host-memory staging, a lost LL protocol, collapsed posted writes or ACS. \
             Equal times at both sizes in nccl-tests rule it out.",
        ),
        settle: all_reduce_unless_measured(setup, known)
            .into_iter()
            .chain([
                "NCCL_DEBUG=INFO: look for `via SHM` where `via P2P` is expected, and `nvidia-smi topo -p2p r`"
                    .to_owned(),
            ])
            .collect(),
    })
}

/// What the observed split leaves for all else is less than the model needs.
fn split(setup: &ModelledSetup, known: &Known) -> Option<Finding> {
    let stated = setup.common.stated.verify.observed_allreduce?;
    let model = known.model.as_ref()?;
    let left = known.verify.used.value - stated.total.value;
    let needed = model.verify.device_time - model.verify.allreduce.total;
    if left * FAR > needed {
        return None;
    }
    let one_row = model.baseline.device_time - model.baseline.allreduce.total;
    Some(Finding {
        code: "impossible-split",
        message: format!(
            "The split leaves {left} of the verify pass for everything but all-reduce, yet weights, attention and \
             kernels need {needed} for these rows and {one_row} for a single one. The {} booked as all-reduce must \
             contain work or waiting of another kind.",
            stated.total.value
        ),
        settle: vec![
            "time the verify pass with the all-reduces replaced by nothing (tp group of one)".into(),
        ],
    })
}

fn baseline_differs(setup: &ModelledSetup, known: &Known) -> Option<Finding> {
    // The tables are of another way than the model takes: the difference is theirs, and is said as such.
    if rows_contradict_box(setup) {
        return None;
    }
    let model = known.baseline_step.predicted?.value;
    let used = known.baseline_step.used.value;
    let (ratio, word) = far_apart(used, model)?;
    Some(Finding {
        code: "baseline-differs",
        message: format!(
            "The baseline step of {used} is {ratio:.2} times the model's {model}: {word}. Verdict and break-evens use \
             the given figure; predicted parts may be off by as much."
        ),
        settle: vec!["compare batch, context and server flags of the measurement with the scenario".into()],
    })
}

fn verify_differs(setup: &ModelledSetup, known: &Known) -> Option<Finding> {
    let model = known.verify.predicted?.value;
    let used = known.verify.used.value;
    let (ratio, word) = far_apart(used, model)?;
    if known.model.as_ref()?.verify.host_bound() {
        // Slower than the model's host is the host's affair; faster contradicts the host-bound reading.
        return (ratio < 1.0).then(|| Finding {
            code: "verify-differs",
            message: format!(
                "The verify pass of {used} is {ratio:.2} times the model's {model} at the profile's middle: the host \
                 issued faster than that then, or verify did run in a graph."
            ),
            settle: vec!["note CPU governor, pinning and profiler state beside each measurement".into()],
        });
    }
    let eager = eagerly(setup).filter(|eager| ratio > 1.0 && *eager > model * 1.05);
    let hint = eager.map_or(String::new(), |eager| {
        let like =
            if used < eager * FAR && used * FAR > eager { " looks like this" } else { " is slower too" };
        format!(" A verify pass that silently runs eagerly{like}: the model's would take {eager}.")
    });
    let mut settle: Vec<String> = all_reduce_unless_measured(setup, known).into_iter().collect();
    settle.extend(eager.and_then(|_| graph_check(setup.runtime.kind)));
    if settle.is_empty() {
        settle.push(
            "profile one verify pass and compare the time of each kind of kernel: specplan import reads the traces"
                .to_owned(),
        );
    }
    Some(Finding {
        code: "verify-differs",
        message: format!("The verify pass of {used} is {ratio:.2} times the model's {model}: {word}.{hint}"),
        settle,
    })
}

/// The verify pass of the setup, issued eagerly; none where it is eager as it stands.
fn eagerly(setup: &ModelledSetup) -> Option<Seconds> {
    if setup.verify.execution == Execution::Eager {
        return None;
    }
    let mut eager = setup.clone();
    eager.verify.execution = Execution::Eager;
    Some(super::passes::cycle(&eager).verify.time.value)
}

/// How each server tells whether verify was replayed from a graph.
fn graph_check(runtime: RuntimeKind) -> Option<String> {
    let how = match runtime {
        RuntimeKind::Sglang => "`cuda graph: True` in its log, --cuda-graph-max-bs not below the batch",
        RuntimeKind::Vllm => {
            "no --enforce-eager, cudagraph_capture_sizes up to the rows of verify (batch times draft tokens)"
        }
        RuntimeKind::Pytorch | RuntimeKind::Cuda => return None,
    };
    Some(format!("check that verify replays a CUDA graph at this batch: {how}"))
}

/// A faster all-reduce than the one that the server takes, if this box could run one.
fn allreduce_choice(setup: &ModelledSetup) -> Option<Finding> {
    let policy = &setup.verify.policy;
    let request = Request {
        op: CollectiveOp::AllReduce,
        ranks: setup.parallel.tensor,
        bytes: message_size(setup, setup.common.draft_tokens),
        execution: setup.verify.execution,
    };
    if request.ranks < 2 {
        return None;
    }
    let explanation = explain_choice(&setup.hardware, setup.runtime.kind, policy, request);
    let better = explanation.better?;
    Some(Finding {
        code: "faster-allreduce",
        message: format!(
            "{}. For the {} of verify, {} would take about {} ({}) instead of {} by the same model; {}.",
            explanation.taken,
            request.bytes,
            better.choice.backend.title(),
            better.time.value,
            better.time.source.word(),
            better.instead_of.value,
            better.because
        ),
        settle: vec![
            format!(
                "serve once with {} switched on and once without, same prompts, and compare throughput",
                better.choice.backend.title()
            ),
            format!(
                "before that, what the model makes of it: specplan run {} --set \
                 speculation.verify.allreduce.backend={}",
                setup.common.path,
                better.choice.backend.word()
            ),
        ],
    })
}

/// Whether the calibration's all-reduces went another way than NCCL takes on this box by itself.
fn rows_contradict_box(setup: &ModelledSetup) -> bool {
    let with = Pricing {
        hardware: &setup.hardware,
        calibration: &setup.calibration,
        runtime: &setup.runtime,
        execution: setup.baseline.execution,
        policy: &setup.baseline.policy,
    };
    let request = Request {
        op: CollectiveOp::AllReduce,
        ranks: setup.parallel.tensor,
        bytes: message_size(setup, 1),
        execution: setup.baseline.execution,
    };
    other_way(request, &with).is_some_and(|way| way.by_itself)
}

/// Factor and direction, where two times are further apart than noise explains.
fn far_apart(used: Seconds, model: Seconds) -> Option<(f64, &'static str)> {
    let ratio = used / model;
    if ratio > FAR {
        Some((ratio, "slower than these GPUs and links need"))
    } else if ratio < 1.0 / FAR {
        Some((ratio, "faster than the model believes possible here"))
    } else {
        None
    }
}

/// Observed throughput must equal batch x accept length / cycle.
fn cycle_arithmetic(setup: &Setup, known: &Known) -> Option<Finding> {
    let common = common(setup);
    let throughput = common.stated.observed_throughput?.value;
    let length = known.accept_length.used.value;
    let cycle = length.tokens(f64::from(known.batch)) / throughput;
    let verify = common.stated.verify.observed.or(common.stated.verify.time)?.value;
    if cycle < verify {
        return None;
    }
    let parts_cycle = known.verify.used.value + known.draft_host.used.value;
    let off = parts_cycle / cycle;
    if (off - 1.0).abs() > 0.03 {
        return Some(Finding {
            code: "throughput-differs",
            message: format!(
                "{throughput} at an accept length of {length} is a cycle of {cycle}; verify, draft and host as given \
                 add up to {parts_cycle}."
            ),
            settle: vec!["read accept length and throughput from the same log lines".into()],
        });
    }
    let rest = cycle - verify;
    if rest > verify {
        return Some(Finding {
            code: "throughput-differs",
            message: format!(
                "{throughput} at an accept length of {length} is a cycle of {cycle}, of which {rest} would be \
                 drafting and host work: more than the verify pass of {verify}. Prefill inside the throughput, a \
                 larger batch than stated, or an accept length of another workload look like this."
            ),
            settle: vec![
                "read accept length, running requests and throughput from the same log lines".into(),
            ],
        });
    }
    let verify_only = length.tokens(f64::from(known.batch)) / verify;
    (verify_only > throughput * 1.03).then(|| Finding {
        code: "verify-is-not-the-cycle",
        message: format!(
            "{length} tokens every {verify} would be {verify_only}; {throughput} was observed, so the cycle is {cycle} \
             and {} of it are drafting and host work. A break-even computed from verify alone is too optimistic.",
            cycle - verify
        ),
        settle: Vec::new(),
    })
}

/// A cycle that ends before its verify pass does.
fn cycle_contradicts_verify(setup: &Setup, known: &Known) -> Option<Finding> {
    let stated = &common(setup).stated;
    let throughput = stated.observed_throughput?.value;
    let verify = stated.verify.observed.or(stated.verify.time)?.value;
    let length = known.accept_length.used.value;
    let cycle = length.tokens(f64::from(known.batch)) / throughput;
    (cycle < verify).then(|| Finding {
        code: "throughput-contradicts-verify",
        message: format!(
            "{throughput} at an accept length of {length} is a cycle of {cycle}, shorter than the verify pass of \
             {verify} alone. One of the three was measured in another state (batch, day, profiler on)."
        ),
        settle: vec![
            "read accept length and throughput from the same log lines; time verify without a profiler".into(),
        ],
    })
}

/// Nothing says what drafting and host work cost: the answer is an upper bound.
fn drafting_unknown(known: &Known) -> Option<Finding> {
    let draft_host = known.draft_host.used;
    if draft_host.value > Seconds::ZERO || draft_host.source != Source::Assumed {
        return None;
    }
    let (message, missing) = if known.observed.is_some() {
        (
            "The cycle is known from the throughput, its split is not: the row of verify holds drafting and host work \
             too.",
            "give speculation.verify.observed.time, or hardware and model",
        )
    } else {
        (
            "Drafting and host work are not known and count as nothing, so the speedup is an upper bound: servers \
             spend one to several milliseconds a cycle on them.",
            "give speculation.observed.throughput, or hardware and model",
        )
    };
    Some(Finding { code: "drafting-unknown", message: message.to_owned(), settle: vec![missing.to_owned()] })
}

/// The accept length needed exceeds what the rows can yield.
fn beyond_rows(parts: &Parts) -> Option<Finding> {
    let needed = (parts.cycle().value / parts.baseline_step.value).max(0.0);
    (needed > parts.accept_limit).then(|| Finding {
        code: "break-even-beyond-rows",
        message: format!(
            "Break-even needs an accept length of {needed:.2}, and a cycle yields {:.2} at most even if every drafted \
             token is accepted: no draft can win here, only a cheaper cycle can.",
            parts.accept_limit
        ),
        settle: Vec::new(),
    })
}

/// A cycle cheaper than a plain step.
fn broken_baseline(parts: &Parts) -> Option<Finding> {
    let ratio = parts.cycle().value / parts.baseline_step.value;
    (ratio < 1.0).then(|| Finding {
        code: "broken-baseline",
        message: format!(
            "The cycle takes {ratio:.2} times the baseline step: verifying several rows cannot be cheaper than \
             decoding one. The baseline is held back by something that speculation is not."
        ),
        settle: vec!["compare execution mode, batch limits and scheduler flags of the two runs".into()],
    })
}

fn model_each(known: &Known) -> Option<Seconds> {
    known.allreduce.and_then(|a| a.each.predicted).map(|each| each.value)
}

/// Size of one all-reduce with `rows` rows per request, in bf16.
fn message_size(setup: &ModelledSetup, rows: u32) -> Bytes {
    Bytes::new(f64::from(setup.common.batch * rows) * f64::from(setup.model.hidden) * 2.0)
}

/// A table of nccl-tests, unless the calibration in use holds one of this message and no profile contradicts it.
fn all_reduce_unless_measured(setup: &ModelledSetup, known: &Known) -> Option<String> {
    let each = known.allreduce.and_then(|allreduce| allreduce.each.predicted);
    let measured = each.is_some_and(|each| each.source == Source::Measured && !each.extrapolated);
    let contradicted = setup.common.stated.verify.observed_allreduce.is_some();
    (setup.parallel.tensor > 1 && (contradicted || !measured)).then(|| all_reduce_perf(setup))
}

fn all_reduce_perf(setup: &ModelledSetup) -> String {
    let decode = message_size(setup, 1).get();
    let verify = message_size(setup, setup.common.draft_tokens).get();
    format!(
        "in the server's environment: all_reduce_perf -b {decode} -e {verify} -f {} -d bfloat16 -g {}",
        setup.common.draft_tokens, setup.parallel.tensor
    )
}

//! Simulations for machines. Times carry their unit in the key.

use serde_json::{Map, Value, json};

use crate::machine::{Distribution, PassResult, RankAllreduce};
use crate::report::context::Context;
use crate::report::number::finite;
use crate::serving::{Latency, ServingResult, Slo};
use crate::simulation::{Beside, Comparison, LoadUnit, MachineAnswer, Measure, Outcome, ServingAnswer};

/// Version of the JSON of `simulate`; it changes where a field changes its meaning or goes.
pub const SIMULATION_SCHEMA_VERSION: u32 = 1;

/// The simulated machine as one JSON object.
pub fn machine_json(answer: &MachineAnswer, context: &Context, trace: Option<&str>) -> Value {
    let result = &answer.result;
    let verify = &result.verify;
    let mut all = head("machine", context);
    let mut put = |key: &str, value: Value| drop(all.insert(key.to_owned(), value));
    put("runs", json!(result.runs));
    put("interrupted", json!(result.runs < answer.wanted));
    put("decode_ms", beside(&result.decode_ms, &answer.decode));
    put("verify_ms", beside(&result.verify_ms, &answer.verify));
    put("cycle_ms", beside(&result.cycle_ms, &answer.cycle));
    put("ranks", verify.ranks.iter().map(rank).collect());
    let mut allreduce = match pass(verify) {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    allreduce["allreduce"]["booked_ms"] = beside(&verify.booked_ms, &answer.allreduce);
    put("allreduce", allreduce["allreduce"].clone());
    put("utilisation", allreduce["utilisation"].clone());
    put("critical_path", json!(verify.critical_path.to_string()));
    put("critical_path_host_share", number(verify.host_share));
    put(
        "execution",
        json!({
            "decode": answer.decode_execution, "verify": answer.verify_execution,
        }),
    );
    let mut decode = pass(&result.decode);
    decode["ranks"] = result.decode.ranks.iter().map(rank).collect();
    decode["critical_path"] = json!(result.decode.critical_path.to_string());
    put("decode", decode);
    put("events", json!(result.events));
    put("notes", json!(answer.notes));
    put("plots", json!(context.plots));
    put("trace", json!(trace));
    Value::Object(all)
}

/// Served requests as one JSON object: the server that speculates, and within it the one that does not.
pub fn serving_json(answer: &ServingAnswer, context: &Context) -> Value {
    let mut all = head("serving", context);
    let slo = answer.config.slo;
    all.insert("interrupted".to_owned(), json!(answer.interrupted));
    all.append(&mut side(&answer.with, slo));
    all.insert("comparison".to_owned(), comparison(&answer.comparison));
    all.insert("without_speculation".to_owned(), Value::Object(side(&answer.without, slo)));
    let loads = answer.loads.iter().map(|point| {
        let key = match point.unit {
            LoadUnit::RequestsPerSecond => "requests_per_s",
            LoadUnit::Users => "users",
        };
        json!({
            key: number(point.load),
            "comparison": comparison(&point.comparison),
            "with_speculation": brief(&point.with, slo),
            "without_speculation": brief(&point.without, slo),
        })
    });
    all.insert("loads".to_owned(), loads.collect());
    all.insert("notes".to_owned(), json!(answer.notes));
    all.insert("plots".to_owned(), json!(context.plots));
    Value::Object(all)
}

fn head(mode: &str, context: &Context) -> Map<String, Value> {
    let calibration = context.calibration_name.as_ref().map(|name| json!({ "name": name }));
    let overrides: Vec<Value> =
        context.overrides.iter().map(|(key, value)| json!({ "key": key, "value": value })).collect();
    let head = json!({
        "mode": mode,
        "schema_version": SIMULATION_SCHEMA_VERSION,
        "tool_version": context.tool_version,
        "seed": context.seed,
        "scenario": { "name": context.scenario_name, "path": context.scenario_path },
        "calibration": calibration,
        "overrides": overrides,
    });
    match head {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn number(value: f64) -> Value {
    json!(finite(value))
}

fn times(d: &Distribution) -> Value {
    json!({
        "mean": number(d.mean()), "p10": number(d.p10()), "p50": number(d.p50()),
        "p90": number(d.p90()), "p99": number(d.p99()),
    })
}

fn beside(simulated: &Distribution, beside: &Beside) -> Value {
    let mut value = times(simulated);
    value["closed_form"] = number(beside.closed.ms());
    value["observed"] = match &beside.observed {
        Some(observed) => json!({
            "value": number(observed.time.value.ms()), "percentile": number(observed.percentile),
        }),
        None => Value::Null,
    };
    value
}

fn rank(rank: &RankAllreduce) -> Value {
    json!({
        "rank": rank.rank,
        "allreduce_booked_ms": number(rank.booked_ms),
        "allreduce_true_ms": number(rank.true_ms),
        "booked_over_true": number(rank.booked_over_true()),
    })
}

fn pass(pass: &PassResult) -> Value {
    let links: Vec<Value> = pass
        .utilisation
        .links
        .iter()
        .map(|(name, share)| json!({ "name": name, "share": number(*share) }))
        .collect();
    json!({
        "allreduce": {
            "count": pass.allreduces,
            "booked_ms": times(&pass.booked_ms),
            "true_ms": times(&pass.true_ms),
            "booked_over_true": times(&pass.booked_over_true),
            "least_ms": times(&pass.least_ms),
        },
        "utilisation": {
            "host": number(pass.utilisation.host), "gpu": number(pass.utilisation.gpu), "links": links,
        },
    })
}

fn latency(latency: &Latency) -> Value {
    let ms = |time: crate::units::Seconds| number(time.ms());
    json!({
        "mean": ms(latency.mean), "p50": ms(latency.p50), "p90": ms(latency.p90), "p99": ms(latency.p99),
        "max": ms(latency.max), "count": latency.count,
    })
}

fn comparison(comparison: &Comparison) -> Value {
    let by = match comparison.by {
        Measure::Goodput => "goodput",
        Measure::Throughput => "throughput",
        Measure::Latency => "latency",
    };
    let verdict = match comparison.outcome {
        Outcome::Wins => "wins",
        Outcome::Loses => "loses",
        Outcome::Ties => "ties",
    };
    json!({ "verdict": verdict, "by": by, "ratio": number(comparison.ratio) })
}

fn goodput(result: &ServingResult, slo: Slo) -> Value {
    if slo == Slo::default() {
        return Value::Null;
    }
    let goodput = &result.goodput;
    json!({
        "requests": goodput.requests,
        "share": number(goodput.share),
        "requests_per_s": number(goodput.request_rate),
        "throughput_tok_s": number(goodput.throughput.get()),
    })
}

fn brief(result: &ServingResult, slo: Slo) -> Value {
    json!({
        "throughput_tok_s": number(result.throughput.get()),
        "ttft_ms": latency(&result.ttft),
        "tpot_ms": latency(&result.tpot),
        "e2e_ms": latency(&result.e2e),
        "goodput": goodput(result, slo),
        "busy_share": number(result.busy_share),
    })
}

fn side(result: &ServingResult, slo: Slo) -> Map<String, Value> {
    let requests = &result.requests;
    let timeline: Vec<Value> = result
        .timeline
        .iter()
        .map(|point| {
            json!({
                "from_s": number(point.from.get()), "to_s": number(point.to.get()),
                "waiting": number(point.waiting), "running": number(point.running),
                "kv_blocks": number(point.kv_blocks),
            })
        })
        .collect();
    let value = json!({
        "requests": {
            "arrived": requests.arrived, "completed": requests.completed, "rejected": requests.rejected,
            "running": requests.running, "waiting": requests.waiting,
        },
        "throughput_tok_s": number(result.throughput.get()),
        "requests_per_s": number(result.request_rate),
        "goodput": goodput(result, slo),
        "ttft_ms": latency(&result.ttft),
        "tpot_ms": latency(&result.tpot),
        "itl_ms": latency(&result.itl),
        "e2e_ms": latency(&result.e2e),
        "wait_ms": latency(&result.wait),
        "accept_length": number(result.accept_length.get()),
        "accept_histogram": result.accept_histogram,
        "output_tokens": result.tokens.output,
        "span_s": number(result.span.get()),
        "steps": result.steps,
        "mean_batch": number(result.mean_batch),
        "busy_share": number(result.busy_share),
        "kv": {
            "blocks": result.kv.blocks, "mean_share": number(result.kv.mean_share), "peak": result.kv.peak,
        },
        "preemptions": result.preemptions,
        "timeline": timeline,
        "events": result.events,
    });
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

//! A server's command line as a scenario: what it says is filled in, what it cannot say stands in comments.

use std::fmt::Write as _;
use std::path::Path;

use super::calibration::quoted;
use super::model_name::{self, Known};
use crate::hardware::{gpu_preset, preset_entries};
use crate::import::{Drafting, ServerCommand, Unread};

/// What the command line of specplan adds.
pub(super) struct Said {
    /// GPU preset.
    pub(super) gpu: Option<String>,
    /// Tokens gained per cycle.
    pub(super) accept_length: Option<f64>,
}

/// The scenario.
///
/// # Errors
/// A GPU preset that does not exist.
pub(super) fn yaml(server: &ServerCommand, file: &str, said: &Said) -> Result<String, String> {
    let mut out = format!("# Imported from {} by specplan {}.\n", shown(file), env!("CARGO_PKG_VERSION"));
    let model = Model::of(server);
    let _ = writeln!(out, "name: {}", quoted(&title(server, &model)));
    hardware(server, said, &mut out)?;
    out.push_str(&model.yaml);
    let _ = writeln!(out, "runtime: {}", server.server);
    parallel(server, &mut out);
    out.push_str(
        "# workload: { batch: 1, context: 2048 }   # requests that decode together, and their context\n",
    );
    if !server.environment.is_empty() {
        out.push_str("environment:\n");
        for (name, value) in &server.environment {
            let _ = writeln!(out, "  {name}: {}", quoted(value));
        }
    }
    let execution = if server.graph == Some(false) { "eager" } else { "graph" };
    let _ = writeln!(out, "baseline:\n  execution: {execution}");
    opt_in(server, "  ", &mut out);
    if let Some(untold) = server.unread(&["--speculative-config"]) {
        let _ = writeln!(out, "# speculation: {} cannot be read", unread(untold));
    }
    if let Some(drafting) = &server.drafting {
        speculation(server, drafting, &model, execution, said, &mut out);
    }
    serving(server, &mut out);
    if !server.unread.is_empty() {
        out.push_str("# Not readable, and left out above:\n");
        for flag in &server.unread {
            let _ = writeln!(out, "#   {}", unread(flag));
        }
    }
    let captured = captured(server);
    if !server.not_modelled.is_empty() || captured.is_some() {
        out.push_str("# Not modelled:\n");
        for line in captured.iter().flatten() {
            let _ = writeln!(out, "#   {line}");
        }
        for flag in &server.not_modelled {
            let _ = writeln!(out, "#   {}", shown(flag));
        }
    }
    Ok(out)
}

/// Where graphs end: no key says it, so that the reader must, at larger batches.
fn captured(server: &ServerCommand) -> Option<Vec<String>> {
    let captured = server.graph_max_batch.filter(|_| server.graph != Some(false))?;
    let rows = server.drafting.as_ref().and_then(|drafting| drafting.draft_tokens).unwrap_or(1).max(1);
    // SGLang counts requests, vLLM rows.
    let (what, batch) = if server.server == "vllm" {
        (format!("CUDA graphs of up to {captured} rows, {rows} a request"), captured / rows)
    } else {
        (format!("--cuda-graph-max-bs {captured}"), captured)
    };
    let keys = match &server.drafting {
        Some(_) => "baseline, draft_pass and verify",
        None => "baseline",
    };
    Some(vec![
        format!("{what}: from batch {} on passes run eagerly; there", batch + 1),
        format!("  write `execution: eager` under {keys}"),
    ])
}

/// Safe in a comment.
fn shown(text: &str) -> String {
    let breaks = |c: char| {
        c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    text.chars().map(|c| if breaks(c) { ' ' } else { c }).collect()
}

fn title(server: &ServerCommand, model: &Model) -> String {
    let mut title = model.name.clone();
    if let Some(drafting) = &server.drafting {
        let _ = write!(title, ", {}", drafting.algorithm);
    }
    if let Some(tensor) = server.tensor {
        let _ = write!(title, ", TP{tensor}");
    }
    title
}

/// The model as the scenario names it, and what was assumed about it.
pub(super) struct Model {
    name: String,
    yaml: String,
    known: Option<Known>,
    /// What was taken for granted.
    pub(super) note: Option<String>,
}

impl Model {
    /// A preset, a config.json that lies there, or nothing but a comment.
    pub(super) fn of(server: &ServerCommand) -> Self {
        let Some(name) = server.model.as_deref().filter(|name| !name.is_empty()) else {
            let yaml = "# model: which? a preset or the path of its config.json\n".to_owned();
            let note = Some("the command line names no model".to_owned());
            return Self { name: "a server".to_owned(), yaml, known: None, note };
        };
        let short = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name).to_owned();
        let config = Path::new(name).join("config.json");
        if config.is_file() {
            let yaml = choice("config", &config.display().to_string(), server.weights, server.kv);
            return Self { name: short, yaml, known: model_name::of_model(name), note: None };
        }
        let Some(known) = model_name::of_model(name) else {
            let yaml = format!("# model: {} is no preset: name the path of its config.json\n", shown(name));
            let note = Some(format!("{name} is no preset: fill in the path of its config.json under model:"));
            return Self { name: short, yaml, known: None, note };
        };
        let weights = server.weights.or(known.weights);
        let yaml = choice("preset", known.preset, weights, server.kv);
        let stored = weights.map_or(String::new(), |weights| format!(" stored in {weights}"));
        let note = known.inexact.then(|| format!("{name} is taken as the preset {}{stored}", known.preset));
        Self { name: short, yaml, known: Some(known), note }
    }
}

fn choice(key: &str, name: &str, weights: Option<&str>, kv: Option<&str>) -> String {
    if weights.is_none() && kv.is_none() {
        return format!("model: {}\n", quoted_if_needed(name));
    }
    let weights = weights.map_or(String::new(), |word| format!(", weights: {word}"));
    let kv = kv.map_or(String::new(), |word| format!(", kv: {word}"));
    format!("model: {{ {key}: {}{weights}{kv} }}\n", quoted_if_needed(name))
}

fn quoted_if_needed(text: &str) -> String {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
    if plain && !text.is_empty() { text.to_owned() } else { quoted(text) }
}

/// Flags that set the number of GPUs, by the names that [`ServerCommand::unread`] knows.
const GPUS: [&str; 4] =
    ["--tp-size", "--tensor-parallel-size", "--ep-size", "--decode-context-parallel-size"];

/// "--tp-size `$TP`", or "--tp-size without a value", safe in a comment.
fn unread(unread: &Unread) -> String {
    match unread.text.as_str() {
        "" => format!("{} without a value", unread.flag),
        text => shown(&format!("{} `{text}`", unread.flag)),
    }
}

fn gpus(server: &ServerCommand) -> u32 {
    server.tensor.unwrap_or(1).max(server.expert.unwrap_or(1))
}

/// The box of that card with as many GPUs.
fn hardware(server: &ServerCommand, said: &Said, out: &mut String) -> Result<(), String> {
    let count = gpus(server);
    let untold = server.unread(&GPUS);
    let Some(gpu) = &said.gpu else {
        out.push_str("# hardware: which box? `specplan explain presets` lists them\n");
        return Ok(());
    };
    // A box may be meant, and names one exactly.
    if preset_entries().iter().any(|entry| entry.answers_to(gpu)) {
        let _ = writeln!(out, "hardware: {gpu}");
        return Ok(());
    }
    let known = gpu_preset(gpu).ok_or_else(|| format!("--gpu {gpu}: neither a GPU preset nor a box"))?;
    if let Some(untold) = untold {
        let _ = writeln!(out, "# hardware: how many {}? {} says no number", known.name, unread(untold));
        return Ok(());
    }
    match box_of(gpu, count) {
        Some(name) => {
            let _ = writeln!(out, "hardware: {name}");
        }
        None => {
            let _ = writeln!(out, "# hardware: no preset has {count} x {}: write a box file", known.name);
        }
    }
    Ok(())
}

/// The box preset of so many of a GPU, or the box that is named itself.
pub(super) fn box_of(gpu: &str, count: u32) -> Option<String> {
    if preset_entries().iter().any(|entry| entry.answers_to(gpu)) {
        return Some(gpu.to_owned());
    }
    let known = gpu_preset(gpu)?;
    let short = ["-server", "-workstation", "-max-q", "-sxm", "-pcie"].iter();
    let stems = short.filter_map(|ending| known.name.strip_suffix(ending)).chain([known.name.as_str(), gpu]);
    stems
        .map(|stem| format!("{stem}-x{count}"))
        .find(|name| preset_entries().iter().any(|entry| entry.answers_to(name)))
}

fn parallel(server: &ServerCommand, out: &mut String) {
    let sizes = [
        ("tensor", server.tensor),
        ("expert", server.expert),
        ("data_attention", server.data_attention),
        ("decode_context", server.decode_context),
    ];
    let given: Vec<String> =
        sizes.iter().filter_map(|(key, size)| size.map(|size| format!("{key}: {size}"))).collect();
    if let Some(untold) = server.unread(&GPUS) {
        let given = given.join(", ");
        let _ =
            writeln!(out, "# parallel: {{ {given} }}   # to be filled in: {} says no number", unread(untold));
    } else if given.is_empty() {
        // One GPU is both servers' default.
        out.push_str("parallel: { tensor: 1 }\n");
    } else {
        let _ = writeln!(out, "parallel: {{ {} }}", given.join(", "));
    }
}

fn opt_in(server: &ServerCommand, indent: &str, out: &mut String) {
    if !server.allreduce.is_empty() {
        let _ = writeln!(out, "{indent}allreduce: {{ opt_in: [{}] }}", server.allreduce.join(", "));
    }
}

fn speculation(
    server: &ServerCommand,
    drafting: &Drafting,
    model: &Model,
    execution: &str,
    said: &Said,
    out: &mut String,
) {
    let Some(method) = drafting.method else {
        let _ = writeln!(out, "# speculation: {} is not modelled", shown(&drafting.algorithm));
        return;
    };
    let _ = writeln!(out, "speculation:\n  method: {method}");
    draft(method, drafting, model, out);
    for (key, value) in
        [("steps", drafting.steps), ("topk", drafting.topk), ("draft_tokens", drafting.draft_tokens)]
    {
        if let Some(value) = value {
            let _ = writeln!(out, "  {key}: {value}");
        }
    }
    match said.accept_length {
        Some(length) => {
            let _ = writeln!(out, "  acceptance: {{ accept_length: {length} }}");
        }
        None => out.push_str(
            "  # acceptance: { accept_length: 2.0 }     # tokens per cycle, bonus included: import a server log\n",
        ),
    }
    if let Some(overlap) = server.overlap {
        let _ = writeln!(out, "  scheduler: {{ overlap: {overlap} }}");
    }
    for pass in ["draft_pass", "verify"] {
        let _ = writeln!(out, "  {pass}:\n    execution: {execution}");
        opt_in(server, "    ", out);
    }
}

fn draft(method: &str, drafting: &Drafting, model: &Model, out: &mut String) {
    if method != "eagle3" && method != "draft-model" {
        return;
    }
    let name = drafting.draft.as_deref().unwrap_or_default();
    let known = match method {
        "eagle3" => model.known.as_ref().and_then(|known| model_name::head_of(known.preset)),
        _ => model_name::of_model(name).map(|known| known.preset),
    };
    let config = Path::new(name).join("config.json");
    if !name.is_empty() && config.is_file() {
        let _ = writeln!(out, "  draft: {}", quoted_if_needed(&config.display().to_string()));
    } else if let Some(known) = known {
        let _ = writeln!(out, "  draft: {known}   # for {}: its config.json knows better", shown(name));
    } else {
        let _ = writeln!(out, "  # draft: {}: name the path of its config.json", shown(name));
    }
}

fn serving(server: &ServerCommand, out: &mut String) {
    // Depth by batch: the last batch with any drafted token.
    let by_batch = server.drafting.as_ref().map_or(&[][..], |drafting| &drafting.by_batch);
    let off = by_batch.iter().any(|(_, _, k)| *k == 0);
    let up_to = by_batch.iter().filter(|(_, _, k)| *k > 0).map(|(_, to, _)| *to).max().filter(|_| off);
    let keys = [
        ("max_requests", server.max_requests),
        ("token_budget", server.token_budget),
        ("block_size", server.block_size),
        ("replicas", server.replicas),
        ("speculate_up_to", up_to),
    ];
    let given: Vec<String> =
        keys.iter().filter_map(|(key, value)| value.map(|value| format!("{key}: {value}"))).collect();
    if !given.is_empty() {
        let _ = writeln!(out, "simulation:\n  serving: {{ {} }}", given.join(", "));
    }
}

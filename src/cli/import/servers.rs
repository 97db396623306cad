//! Command lines of servers: settings for reading, and a scenario.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::scenario::{self, Model, Said};
use super::section::Section;
use crate::cli::args::ImportArgs;
use crate::import::{Observation, ServerCommand, What};

/// Servers of all files.
pub(super) struct Servers {
    said: Said,
    file: String,
    found: Vec<(String, ServerCommand)>,
}

impl Servers {
    /// None yet.
    pub(super) fn new(args: &ImportArgs) -> Self {
        let said = Said { gpu: args.gpu.clone(), accept_length: args.accept_length };
        Self { said, file: String::new(), found: Vec::new() }
    }
}

impl Section for Servers {
    fn begin(&mut self, file: &str) {
        file.clone_into(&mut self.file);
    }

    fn take(&mut self, observation: &Observation) {
        if let What::Server(server) = &observation.what {
            self.found.push((self.file.clone(), (**server).clone()));
        }
    }

    fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    fn text(&self, out: &mut String) {
        for (at, (_, server)) in self.found.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            settings(server, out);
        }
    }

    fn json(&self, object: &mut Map<String, Value>) {
        let servers: Vec<Value> = self
            .found
            .iter()
            .map(|(file, server)| {
                let mut value = serde_json::to_value(server).expect("plain data becomes JSON");
                value["file"] = json!(file);
                value
            })
            .collect();
        object.insert("servers".to_owned(), json!(servers));
    }

    fn yaml(&self) -> Option<Result<String, String>> {
        Some(match &self.found[..] {
            [(file, server)] => scenario::yaml(server, file, &self.said),
            many => Err(format!("{} servers are started; a scenario is of one", many.len())),
        })
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (_, server) in &self.found {
            notes.extend(Model::of(server).note);
            if self.said.gpu.is_none() {
                notes.push(
                    "the command line does not name the box: --gpu rtx-pro-6000 fills in hardware:"
                        .to_owned(),
                );
            }
            if server.drafting.is_some() && self.said.accept_length.is_none() {
                notes.push(
                    "the command line does not know the accept length: --accept-length 2.0, or a server log, does"
                        .to_owned(),
                );
            }
        }
        notes
    }
}

fn settings(server: &ServerCommand, out: &mut String) {
    let name = if server.server == "sglang" { "SGLang" } else { "vLLM" };
    let _ =
        writeln!(out, "{name} serving {}", server.model.as_deref().unwrap_or("a model that is not named"));
    let mut row = |what: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = writeln!(out, "  {what:<22} {value}");
        }
    };
    let number = |value: Option<u32>| value.map(|value| value.to_string());
    row("tensor parallel", number(server.tensor));
    row("expert parallel", number(server.expert));
    row("data-parallel attention", number(server.data_attention));
    row("replicas", number(server.replicas));
    row("decode context", number(server.decode_context));
    row("weights", server.weights.map(str::to_owned));
    row("KV cache", server.kv.map(str::to_owned));
    if let Some(drafting) = &server.drafting {
        let method = drafting.method.map_or("not modelled".to_owned(), str::to_owned);
        row("speculation", Some(format!("{} ({method})", drafting.algorithm)));
        row("drafter", drafting.draft.clone());
        row("steps", number(drafting.steps));
        row("topk", number(drafting.topk));
        row("draft tokens", number(drafting.draft_tokens));
    }
    row("requests at most", number(server.max_requests));
    row("tokens of a step", number(server.token_budget));
    row("KV block", number(server.block_size));
    let graphs = |on: bool| if on { "CUDA graphs" } else { "eager" };
    row("decoding", server.graph.map(|on| graphs(on).to_owned()));
    let captured = if server.server == "vllm" { "graphs up to rows" } else { "graphs up to batch" };
    row(captured, server.graph_max_batch.map(|most| format!("{most}; beyond it passes run eagerly")));
    row("overlap scheduler", server.overlap.map(|on| if on { "on" } else { "off" }.to_owned()));
    row("all-reduce opted in", (!server.allreduce.is_empty()).then(|| server.allreduce.join(", ")));
    for (name, value) in &server.environment {
        row(name, Some(value.clone()));
    }
    for unread in &server.unread {
        row("not readable", Some(format!("{} {}", unread.flag, unread.text).trim_end().to_owned()));
    }
    for flag in &server.not_modelled {
        row("not modelled", Some(flag.clone()));
    }
}

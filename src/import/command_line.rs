//! Command lines that start a server: `python -m sglang.launch_server ...`, `vllm serve ...`.
//!
//! Read are variables before the command and `export` lines, line continuations, quotes, `--flag value`, `--flag=value`,
//! short flags, underscores for dashes, and JSON values with dots (`--speculative-config.method ngram`); wrappers in front
//! (docker, nohup, numactl) are passed over. Every flag ends up used or listed as not modelled; nothing is expanded that
//! only a shell knows (`$MODEL` stays).
//!
//! Sources: sgl-project/sglang @067ad4d `server_args.py`, `docs/advanced_features/speculative_decoding.md`;
//! vllm-project/vllm `vllm/config/speculative.py`, `vllm/engine/arg_utils.py`.

mod flags;
mod server;
mod sglang;
mod shell;
mod vllm;

use std::io::{BufRead, Read};

use super::{Claim, Head, Importer, Observation, Sink, Summary, What};
use flags::Flags;

pub use flags::Unread;
pub use server::{Drafting, ServerCommand};

/// The importer.
pub(super) const IMPORTER: Importer = Importer {
    kind: "command-line",
    about: "a command line of SGLang or vLLM, into a scenario",
    claim,
    read,
};

/// The longest script \[B\].
const LONGEST: u64 = 1 << 20;

/// Logs quote command lines too; they are longer and hold more.
fn claim(head: &Head) -> Claim {
    let starts =
        ["sglang.launch_server", "sglang serve", "vllm serve", "vllm.entrypoints.", "sglang::launch_server"];
    if head.text.len() < 1 << 16 && starts.iter().any(|word| head.has(word)) {
        Claim::Maybe
    } else {
        Claim::No
    }
}

fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Summary {
    let mut summary = Summary::default();
    let mut bytes = Vec::new();
    if let Err(error) = Read::take(input, LONGEST).read_to_end(&mut bytes) {
        summary.cut = Some(error.to_string());
    }
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    summary.lines = text.lines().count() as u64;
    let mut exported: Vec<(String, String)> = Vec::new();
    for command in shell::commands(&text) {
        if let Some(name) = command.unclosed {
            summary.warn(
                "quotes",
                command.line,
                &format!("a {name} is never closed"),
                &command.words.join(" "),
            );
        }
        let (environment, words) = shell::environment(&command.words);
        if words.is_empty() || words[0] == "export" {
            exported.extend(environment);
            exported.extend(words.iter().skip(1).filter_map(|word| shell::assignment(word)));
            continue;
        }
        let Some((server, rest)) = server_of(words) else { continue };
        let environment =
            exported.iter().cloned().chain(environment).chain(docker_environment(words)).collect();
        let mut flags = Flags::of(rest);
        let command = match server {
            "sglang" => sglang::read(&mut flags, environment, command.line, &mut summary),
            _ => vllm::read(&mut flags, environment, command.line, &mut summary),
        };
        summary.read += 1;
        sink(Observation::at(command.0, What::Server(Box::new(command.1))));
    }
    summary
}

/// The server that a command starts, and the words behind it.
fn server_of(words: &[String]) -> Option<(&'static str, &[String])> {
    for (at, word) in words.iter().enumerate() {
        let name = word.rsplit('/').next().unwrap_or(word);
        let next = words.get(at + 1).map(String::as_str);
        match name {
            "sglang.launch_server" | "launch_server.py" => return Some(("sglang", &words[at + 1..])),
            "sglang" if next == Some("serve") => return Some(("sglang", &words[at + 2..])),
            "vllm" if next == Some("serve") => return Some(("vllm", &words[at + 2..])),
            _ if name.starts_with("vllm.entrypoints.") => return Some(("vllm", &words[at + 1..])),
            _ => {}
        }
    }
    None
}

/// `-e NAME=VALUE` and `--env NAME=VALUE` of a container in front of the server.
fn docker_environment(words: &[String]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for pair in words.windows(2) {
        if matches!(pair[0].as_str(), "-e" | "--env") {
            found.extend(shell::assignment(&pair[1]));
        }
        found.extend(pair[0].strip_prefix("--env=").and_then(shell::assignment));
    }
    found
}

#[cfg(test)]
mod tests;

//! `specplan import`: foreign files into what the rest of specplan takes.
//!
//! Files of one kind make one [`Group`]; its [`Section`]s turn observations into text, JSON and YAML.

mod acceptance;
mod acceptance_file;
mod benchmarks;
mod boxes;
mod calibration;
mod collectives;
mod decoding;
mod decoding_json;
mod fabric;
#[cfg(test)]
mod fuzz;
mod gpu_name;
mod group;
mod model_name;
mod models;
mod profile;
mod render;
#[cfg(test)]
mod round_trips;
mod scenario;
mod section;
mod servers;
mod source;
mod traces;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::args::{Format, ImportArgs, ImportFormat, OutputArgs};
use super::exit::Failure;
use super::output::{Output, say};
use crate::diagnostic::closest;
use crate::hardware::{gpu_entries, gpu_preset, preset_entries};
use crate::import::Kind;
use group::Group;

/// Imports every file.
pub(super) fn run(args: &ImportArgs) -> Result<(), Failure> {
    if args.kinds {
        return kinds(args);
    }
    if let Some(length) = args.accept_length.filter(|length| !(1.0..=65.0).contains(length)) {
        return Err(Failure::Input(format!(
            "--accept-length takes 1 to 65 tokens, bonus included, not {length}"
        )));
    }
    if let Some(name) = &args.gpu {
        known_gpu(name).map_err(Failure::Input)?;
    }
    let (kind, files) = kind_and_files(&args.inputs)?;
    let mut output = Output::open(&output_args(args), files)?;
    let groups = source::read_all(kind, files, args)?;
    let faults: Vec<String> =
        groups.iter().flat_map(Group::filled).filter_map(section::Section::fault).collect();
    if !faults.is_empty() {
        return Err(Failure::Input(faults.join("\nerror: ")));
    }
    let format = format(args);
    if !args.quiet {
        for note in groups.iter().flat_map(|group| render::notes(group, format)) {
            say(&wrapped_note(&note));
        }
    }
    output.write(&result(&groups, format, output.color)?)?;
    Ok(())
}

fn result(groups: &[Group], format: ImportFormat, color: bool) -> Result<String, Failure> {
    match format {
        ImportFormat::Text => Ok(render::text(groups, color)),
        ImportFormat::Json => Ok(render::json(groups)),
        ImportFormat::Csv => Ok(render::csv(groups)),
        ImportFormat::Markdown => Ok(render::markdown(groups)),
        ImportFormat::Yaml => render::yaml(groups).map_err(Failure::Input),
    }
}

/// The first word is a kind if it is one and a file follows.
fn kind_and_files(inputs: &[PathBuf]) -> Result<(Option<Kind>, &[PathBuf]), Failure> {
    let Some((first, rest)) = inputs.split_first() else {
        return Err(Failure::Input("no file to import".to_owned()));
    };
    let kind = first.to_str().and_then(Kind::of_word);
    if kind.is_some() && !rest.is_empty() {
        return Ok((kind, rest));
    }
    if kind.is_some() && !first.exists() {
        return Err(Failure::Input(format!("{} is a kind; which file?", first.display())));
    }
    if !rest.is_empty() && !first.exists() && first != Path::new("-") && first.extension().is_none() {
        let known: Vec<&str> = Kind::all().map(Kind::word).collect();
        return Err(Failure::Input(format!(
            "{} is neither a file nor a kind; kinds are {}",
            first.display(),
            known.join(", ")
        )));
    }
    Ok((None, inputs))
}

/// The format asked for, else that of the ending of the output.
fn format(args: &ImportArgs) -> ImportFormat {
    let ending = args.output.as_ref().and_then(|path| path.extension()?.to_str().map(str::to_owned));
    args.format.unwrap_or(match ending.as_deref() {
        Some("yaml" | "yml") => ImportFormat::Yaml,
        Some("json") => ImportFormat::Json,
        Some("csv") => ImportFormat::Csv,
        Some("md") => ImportFormat::Markdown,
        _ => ImportFormat::Text,
    })
}

fn output_args(args: &ImportArgs) -> OutputArgs {
    OutputArgs { format: Format::Text, output: args.output.clone(), quiet: args.quiet, color: args.color }
}

/// Columns of what is said.
const WIDTH: usize = 80;
/// Columns of the word of a kind, the blank behind it included.
const KIND_WIDTH: usize = 19;

/// A note in lines of 80 columns; one that has lines already stays as it is.
fn wrapped_note(note: &str) -> String {
    if note.contains('\n') {
        return note.to_owned();
    }
    let mut out = String::new();
    wrap(note, "  ", WIDTH, &mut out);
    out.trim_end().to_owned()
}

/// Words in lines of at most `width` columns; all but the first begin with `indent`.
fn wrap(text: &str, indent: &str, width: usize, out: &mut String) {
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = line.chars().count() + 1 + word.chars().count() > width;
        if longer && !line.trim().is_empty() {
            let _ = writeln!(out, "{line}");
            indent.clone_into(&mut line);
        } else if !line.trim().is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(out, "{line}");
}

/// A GPU preset, or a box that stands for its GPU.
fn known_gpu(name: &str) -> Result<(), String> {
    let is_box = || preset_entries().iter().any(|entry| entry.answers_to(name));
    if gpu_preset(name).is_some() || is_box() {
        return Ok(());
    }
    let known: Vec<&str> = gpu_entries().iter().map(|entry| entry.name.as_str()).collect();
    let near =
        closest(name, known.iter().copied()).map_or(String::new(), |near| format!("; did you mean {near}?"));
    Err(format!("--gpu {name}: neither a GPU preset nor a box{near} GPUs are {}", known.join(", ")))
}

fn kinds(args: &ImportArgs) -> Result<(), Failure> {
    let mut text = String::new();
    for kind in Kind::all() {
        let mut about = String::new();
        wrap(kind.about(), "", WIDTH - KIND_WIDTH, &mut about);
        for (at, line) in about.lines().enumerate() {
            let word = if at == 0 { kind.word() } else { "" };
            let _ = writeln!(text, "{word:<KIND_WIDTH$}{line}");
        }
    }
    Output::open(&output_args(args), &[])?.write(&text)
}

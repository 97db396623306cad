//! `specplan sweep --merge`: shards joined to the bytes of the whole.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;

use super::args::{Format, SweepArgs};
use super::exit::Failure;
use super::output::Output;
use crate::sweep::{MergeError, check_parts, read_part};

/// Bytes that are copied at once.
const PIECE: usize = 1 << 20;

/// Checks the files, and only then writes.
pub(super) fn run(args: &SweepArgs, output: &mut Output) -> Result<(), Failure> {
    let files = &args.merge;
    let told = |error: MergeError| Failure::Input(error.to_string());
    let mut parts = Vec::new();
    for path in files {
        parts.push(read_part(&path.display().to_string(), open(path)?).map_err(told)?);
    }
    let order = check_parts(&parts).map_err(told)?;
    same_format(args.out.format, parts.first().map_or("csv", |part| &part.format))?;
    if let Some(heading) = order.first().and_then(|first| parts[*first].heading.as_deref()) {
        output.append(heading.as_bytes())?;
    }
    for at in order {
        copy(&files[at], 1 + usize::from(parts[at].heading.is_some()), output)?;
    }
    output.finish()
}

/// The shards say the format; another one is not made of them. Text is the default, so it is no wish.
fn same_format(asked: Format, have: &str) -> Result<(), Failure> {
    let asked = match asked {
        Format::Text => return Ok(()),
        Format::Csv => "csv",
        Format::Json => "json",
        Format::Markdown => "markdown",
    };
    if asked == have {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "the shards are {have}, and --merge joins them as they are: leave `-f {asked}` out"
    )))
}

fn open(path: &PathBuf) -> Result<BufReader<File>, Failure> {
    let cannot = |why: String| Failure::Input(format!("cannot read {}: {why}", path.display()));
    // Asked before opening: opening a pipe waits for whoever writes into it, and files are read twice.
    let facts = path.metadata().map_err(|error| cannot(error.to_string()))?;
    if !facts.is_file() {
        return Err(cannot("it is not a regular file".to_owned()));
    }
    File::open(path).map(BufReader::new).map_err(|error| cannot(error.to_string()))
}

/// Copies what stands behind the first lines.
fn copy(path: &PathBuf, lines: usize, output: &mut Output) -> Result<(), Failure> {
    let cannot = |error| Failure::Input(format!("cannot read {}: {error}", path.display()));
    let mut file = open(path)?;
    let mut piece = Vec::new();
    for _ in 0..lines {
        file.read_until(b'\n', &mut piece).map_err(cannot)?;
    }
    loop {
        piece.clear();
        let read = file.by_ref().take(PIECE as u64).read_to_end(&mut piece).map_err(cannot)?;
        if read == 0 {
            return Ok(());
        }
        output.append(&piece)?;
    }
}

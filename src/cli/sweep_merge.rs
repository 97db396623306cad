//! `specplan sweep --merge`: shards joined to the bytes of the whole.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;

use super::exit::Failure;
use super::output::Output;
use crate::sweep::{MergeError, check_parts, read_part};

/// Bytes that are copied at once.
const PIECE: usize = 1 << 20;

/// Checks the files, and only then writes.
pub(super) fn run(files: &[PathBuf], output: &mut Output) -> Result<(), Failure> {
    let told = |error: MergeError| Failure::Input(error.to_string());
    let mut parts = Vec::new();
    for path in files {
        parts.push(read_part(&path.display().to_string(), open(path)?).map_err(told)?);
    }
    let order = check_parts(&parts).map_err(told)?;
    if let Some(heading) = order.first().and_then(|first| parts[*first].heading.as_deref()) {
        output.append(heading.as_bytes())?;
    }
    for at in order {
        copy(&files[at], 1 + usize::from(parts[at].heading.is_some()), output)?;
    }
    output.finish()
}

fn open(path: &PathBuf) -> Result<BufReader<File>, Failure> {
    let file = File::open(path);
    file.map(BufReader::new)
        .map_err(|error| Failure::Input(format!("cannot read {}: {error}", path.display())))
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

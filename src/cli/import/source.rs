//! Reading the files, with progress where one is long.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::group::Group;
use crate::cli::args::ImportArgs;
use crate::cli::exit::Failure;
use crate::cli::output::say;
use crate::import::{self, Kind};

/// A shorter wait needs no bar.
const SILENT: Duration = Duration::from_millis(300);

/// Reads every file into the group of its kind.
pub(super) fn read_all(
    kind: Option<Kind>,
    files: &[PathBuf],
    args: &ImportArgs,
) -> Result<Vec<Group>, Failure> {
    let mut groups: Vec<Group> = Vec::new();
    for path in files {
        let wrong = |error: io::Error| Failure::Input(format!("{}: {error}", path.display()));
        let mut input = import::open(watched(path, args.quiet).map_err(wrong)?).map_err(wrong)?;
        let kind = match kind {
            Some(kind) => {
                if let Some(other) =
                    input.head().ok().and_then(|head| kind.disputed(&head)).filter(|_| !args.quiet)
                {
                    let (path, told, other) = (path.display(), kind.word(), other.word());
                    say(&format!("note: {path} looks like {other}; it is read as {told}, as told"));
                }
                kind
            }
            None => import::guess(&mut input).map_err(wrong)?,
        };
        let at = groups.iter().position(|group| group.kind == kind).unwrap_or_else(|| {
            groups.push(Group::new(kind, args));
            groups.len() - 1
        });
        read(kind, input, path, &mut groups[at])?;
    }
    Ok(groups)
}

fn read(kind: Kind, input: import::Input, path: &Path, group: &mut Group) -> Result<(), Failure> {
    let name = path.display().to_string();
    group.begin(&name);
    let summary = kind.read(input.reader(), &mut |observation| group.take(&observation));
    if let Some(fault) = &summary.fault {
        return Err(Failure::Input(format!("{name}: {fault}")));
    }
    if summary.read == 0 {
        let shown = summary.skipped.first.first();
        let skipped = shown.map_or(String::new(), |n| format!("; line {}: {}: {}", n.line, n.why, n.text));
        let cut = summary.cut.as_ref().map_or(String::new(), |cut| format!("; {cut}"));
        return Err(Failure::Input(format!("{name}: nothing in it reads as {}{skipped}{cut}", kind.word())));
    }
    group.end(name, summary);
    Ok(())
}

/// A file, or standard input, that shows how far it was read.
fn watched(path: &Path, quiet: bool) -> io::Result<Watched> {
    let (raw, length): (Box<dyn Read>, u64) = if path == Path::new("-") {
        (Box::new(io::stdin()), 0)
    } else {
        // Opening a pipe that nobody writes to waits for ever, and a device has no end.
        let facts = std::fs::metadata(path)?;
        if facts.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder; name the files in it"));
        }
        if !facts.is_file() && !is_descriptor(path) {
            return Err(io::Error::other("is a pipe or device; `-` reads standard input"));
        }
        let file = File::open(path)?;
        (Box::new(file), facts.len())
    };
    let shown = !quiet && io::stderr().is_terminal();
    Ok(Watched { raw, length, done: 0, begun: Instant::now(), bar: None, shown })
}

/// Whether it stands for something that is open already: standard input, or what a shell puts in as `<(command)`.
fn is_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stdin")
        || ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.starts_with(folder))
}

struct Watched {
    raw: Box<dyn Read>,
    /// Bytes in all; 0 where unknown.
    length: u64,
    done: u64,
    begun: Instant,
    bar: Option<ProgressBar>,
    shown: bool,
}

impl Read for Watched {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.raw.read(into)?;
        self.done += count as u64;
        if self.shown && self.begun.elapsed() > SILENT {
            self.bar.get_or_insert_with(|| bar(self.length)).set_position(self.done);
        }
        Ok(count)
    }
}

fn bar(length: u64) -> ProgressBar {
    let (bar, template) = if length > 0 {
        (ProgressBar::new(length), "reading {wide_bar} {bytes} of {total_bytes}, {eta} left")
    } else {
        (ProgressBar::no_length(), "reading: {bytes}")
    };
    bar.with_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()))
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

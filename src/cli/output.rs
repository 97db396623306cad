//! Where results go, in which format, with or without colour.

use std::fs::File;
use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use super::args::{ColorChoice, OutputArgs};
use super::exit::Failure;
use super::interrupt;

/// The result's destination, opened before anything is computed.
pub(super) struct Output {
    target: Target,
    /// Whether to colour the result.
    pub(super) color: bool,
}

enum Target {
    Stdout,
    /// A pipe or device, written as it is.
    Stream(PathBuf, File),
    /// A file, written beside its place and moved there when it is whole, so that a failure loses nothing.
    File {
        place: PathBuf,
        draft: PathBuf,
        file: Option<File>,
    },
}

impl Output {
    /// Opens the destination that the flags name; it must not be one of the inputs.
    pub(super) fn open(args: &OutputArgs, inputs: &[PathBuf]) -> Result<Self, Failure> {
        let Some(path) = &args.output else {
            let color = colored(args.color, io::stdout().is_terminal());
            return Ok(Self { target: Target::Stdout, color });
        };
        let cannot = |error| Failure::Input(format!("cannot open {} for writing: {error}", path.display()));
        if let Ok(place) = path.canonicalize()
            && inputs.iter().any(|input| input.canonicalize().is_ok_and(|input| input == place))
        {
            return Err(Failure::Input(format!("-o {} would overwrite an input", path.display())));
        }
        let exists = path.metadata();
        let target = if exists.as_ref().is_ok_and(|found| !found.is_file()) {
            Target::Stream(path.clone(), File::options().write(true).open(path).map_err(cannot)?)
        } else {
            let draft = beside(path, &format!(".{}.part", std::process::id()));
            interrupt::guard(&draft);
            let file = File::create(&draft).map_err(cannot)?;
            Target::File { place: path.clone(), draft, file: Some(file) }
        };
        Ok(Self { target, color: false })
    }

    /// Writes the whole result.
    pub(super) fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.append(text.as_bytes())?;
        self.finish()
    }

    /// Writes a part of the result; [`Output::finish`] ends it.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match &mut self.target {
            Target::Stdout => Ok(io::stdout().lock().write_all(bytes)?),
            Target::Stream(path, file) => file.write_all(bytes).map_err(|error| failed(path, &error)),
            Target::File { place, file, .. } => {
                let open = file.as_mut().expect("a result is ended once");
                open.write_all(bytes).map_err(|error| failed(place, &error))
            }
        }
    }

    /// Ends the result.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        match &mut self.target {
            Target::Stdout => Ok(io::stdout().lock().flush()?),
            Target::Stream(..) => Ok(()),
            Target::File { place, draft, file } => move_to(place, draft, file),
        }
    }

    /// Ends a result of which the rest will not come. What stands at its place stays; the part lies beside it, where this
    /// says so.
    pub(super) fn finish_partial(&mut self) -> Result<Option<PathBuf>, Failure> {
        if let Target::File { place, draft, file } = &mut self.target {
            let partial = beside(place, ".partial");
            move_to(&partial, draft, file)?;
            return Ok(Some(partial));
        }
        self.finish().map(|()| None)
    }
}

/// Ends a draft and moves it; where it cannot be moved, it is removed.
fn move_to(place: &Path, draft: &Path, file: &mut Option<File>) -> Result<(), Failure> {
    drop(file.take().expect("a result is ended once"));
    let moved = std::fs::rename(draft, place);
    if moved.is_err() {
        let _ = std::fs::remove_file(draft);
    }
    interrupt::released(draft);
    moved.map_err(|error| failed(place, &error))
}

/// A name beside another.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    path.with_file_name(name)
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::Input(format!("cannot write {}: {error}", path.display()))
}

impl Drop for Output {
    /// A result that never came leaves no draft behind.
    fn drop(&mut self) {
        if let Target::File { draft, file: Some(_), .. } = &self.target {
            let _ = std::fs::remove_file(draft);
            interrupt::released(draft);
        }
    }
}

/// Whether messages on stderr are coloured.
pub(super) fn color_stderr(choice: ColorChoice) -> bool {
    colored(choice, io::stderr().is_terminal())
}

fn colored(choice: ColorChoice, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()) => false,
        ColorChoice::Auto => set("CLICOLOR_FORCE") || terminal,
    }
}

/// Says something on stderr; a stderr that cannot be written to is no reason to stop.
pub(super) fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes files that belong together, naming the one that cannot be written. Each is written beside its place first, and all
/// are moved there when all are whole: a full disk leaves none, and what was there before.
pub(super) fn write_files(files: &[(&Path, &[u8])]) -> Result<(), Failure> {
    let mut drafts: Vec<Draft> = Vec::new();
    for (path, bytes) in files {
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            // A device is written as it is.
            std::fs::write(path, bytes).map_err(|error| failed(path, &error))?;
            continue;
        }
        let draft = Draft { path: beside(path, &format!(".{}.part", std::process::id())), place: path };
        interrupt::guard(&draft.path);
        drafts.push(draft);
        let draft = &drafts[drafts.len() - 1];
        std::fs::write(&draft.path, bytes).map_err(|error| failed(path, &error))?;
    }
    drafts.iter().try_for_each(|draft| {
        std::fs::rename(&draft.path, draft.place).map_err(|error| failed(draft.place, &error))
    })
}

/// A file on its way to its place; what is still there in the end is removed.
struct Draft<'p> {
    path: PathBuf,
    place: &'p Path,
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        interrupt::released(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn files_come_together_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let (one, other) = (folder.path().join("a.svg"), folder.path().join("a.png"));
        write_files(&[(&one, b"1"), (&other, b"2")]).expect("written");
        assert_eq!(names(folder.path()), ["a.png", "a.svg"]);
        let nowhere = folder.path().join("nowhere/a.png");
        assert!(write_files(&[(&one, b"3"), (&nowhere, b"4")]).is_err());
        assert_eq!(names(folder.path()), ["a.png", "a.svg"]);
        assert_eq!(std::fs::read(&one).expect("there"), b"1");
    }

    #[test]
    fn a_part_of_a_result_leaves_the_earlier_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("a.csv");
        std::fs::write(&place, "whole").expect("written");
        let args = OutputArgs {
            format: super::super::args::Format::Csv,
            output: Some(place.clone()),
            quiet: true,
            color: ColorChoice::Never,
        };
        let mut output = Output::open(&args, &[]).expect("open");
        output.append(b"part").expect("written");
        let partial = output.finish_partial().expect("moved").expect("a file");
        drop(output);
        assert_eq!(std::fs::read(&partial).expect("there"), b"part");
        assert_eq!(std::fs::read(&place).expect("there"), b"whole");
        assert_eq!(names(folder.path()), ["a.csv", "a.csv.partial"]);
    }
}

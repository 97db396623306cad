//! Where results go, in which format, with or without colour.

use std::fs::File;
use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use super::args::{ColorChoice, OutputArgs};
use super::exit::Failure;

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
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(format!(".{}.part", std::process::id()));
            let draft = path.with_file_name(name);
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
            Target::File { place, draft, file } => {
                drop(file.take().expect("a result is ended once"));
                std::fs::rename(&*draft, &*place).map_err(|error| failed(place, &error))
            }
        }
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::Input(format!("cannot write {}: {error}", path.display()))
}

impl Drop for Output {
    /// A result that never came leaves no draft behind.
    fn drop(&mut self) {
        if let Target::File { draft, file: Some(_), .. } = &self.target {
            let _ = std::fs::remove_file(draft);
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

/// Writes one file of several, naming it in the error.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes)
        .map_err(|error| Failure::Input(format!("cannot write {}: {error}", path.display())))
}

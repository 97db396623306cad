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
    File(PathBuf, File),
}

impl Output {
    /// Opens the destination that the flags name.
    pub(super) fn open(args: &OutputArgs) -> Result<Self, Failure> {
        match &args.output {
            None => {
                Ok(Self { target: Target::Stdout, color: colored(args.color, io::stdout().is_terminal()) })
            }
            Some(path) => {
                let file = File::create(path).map_err(|error| {
                    Failure::Input(format!("cannot open {} for writing: {error}", path.display()))
                })?;
                Ok(Self { target: Target::File(path.clone(), file), color: false })
            }
        }
    }

    /// Writes the whole result.
    pub(super) fn write(&mut self, text: &str) -> Result<(), Failure> {
        match &mut self.target {
            Target::Stdout => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(text.as_bytes())?;
                stdout.flush()?;
                Ok(())
            }
            Target::File(path, file) => file
                .write_all(text.as_bytes())
                .map_err(|error| Failure::Input(format!("cannot write {}: {error}", path.display()))),
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

/// Writes one file of several, naming it in the error.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes)
        .map_err(|error| Failure::Input(format!("cannot write {}: {error}", path.display())))
}

//! Files as text, within limits.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::diagnostic::{Code, Diagnostic, Place, SourceText};

/// Larger files are refused before they are parsed: 1 MB.
pub const MOST_BYTES: u64 = 1_000_000;

/// The name of a file that means standard input, where a person gives it on the command line.
pub const STDIN: &str = "-";

/// The text of a file that somebody named on the command line, or at `named_at` in another file. A byte order mark at its
/// beginning is left out.
///
/// # Errors
/// The file is missing, no regular file (standard input excepted), too large, or no UTF-8 text.
pub fn read_text(path: &Path, named_at: Option<&Place>) -> Result<String, Box<Diagnostic>> {
    read_text_within(path, named_at, MOST_BYTES)
}

/// [`read_text`] with another limit \[B\].
///
/// # Errors
/// The same.
pub fn read_text_within(path: &Path, named_at: Option<&Place>, most: u64) -> Result<String, Box<Diagnostic>> {
    let stdin = named_at.is_none() && path == Path::new(STDIN);
    let bytes = if stdin { read_limited(&mut std::io::stdin().lock(), most) } else { read_file(path, most) };
    let mut text = bytes.and_then(as_text).map_err(|refusal| Box::new(refusal.told(path, named_at)))?;
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

/// Why a file is not read.
enum Refusal {
    Io(io::Error),
    /// What it is instead of a regular file, and what to do.
    Kind(&'static str, &'static str),
    /// Its size and the most.
    TooLarge(String, u64),
    /// Saved as UTF-16.
    Utf16,
    /// Packed with gzip.
    Packed,
    /// The first byte that is no text, and its line.
    NoText {
        byte: usize,
        line: usize,
    },
}

impl Refusal {
    fn told(self, path: &Path, named_at: Option<&Place>) -> Diagnostic {
        let shown = path.display();
        let fault = |code: Code, title: String| {
            let diagnostic = Diagnostic::error(code, title);
            match named_at {
                Some(place) => diagnostic.at(place, "named here"),
                None => diagnostic,
            }
        };
        match self {
            Self::Io(error) => {
                let why = match error.kind() {
                    io::ErrorKind::NotFound => "no such file".to_owned(),
                    io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
                    _ => error.to_string(),
                };
                let diagnostic = fault(Code::Unreadable, format!("cannot read `{shown}`: {why}"));
                match neighbour(path) {
                    Some(near) if error.kind() == io::ErrorKind::NotFound => {
                        diagnostic.help(format!("a file with a similar name exists: `{near}`"))
                    }
                    _ => diagnostic,
                }
            }
            Self::Kind(what, help) => {
                fault(Code::Unreadable, format!("`{shown}` is {what}, not a file")).help(help)
            }
            Self::TooLarge(size, most) => {
                let most = most / 1_000_000;
                fault(Code::TooLarge, format!("`{shown}` is too large: {size}, and {most} MB is the most"))
            }
            Self::Utf16 => fault(Code::Unreadable, format!("`{shown}` is UTF-16, not UTF-8 text"))
                .help("save it as UTF-8"),
            Self::Packed => fault(Code::Unreadable, format!("`{shown}` is packed with gzip, not text"))
                .help("unpack it with `gunzip`"),
            Self::NoText { byte, line } => {
                let title = format!(
                    "`{shown}` is not UTF-8 text: byte {byte}, in line {line}, belongs to no character"
                );
                fault(Code::Unreadable, title)
            }
        }
    }
}

/// The bytes of a regular file. Pipes and devices are refused before they are opened, since they may never end, or
/// never begin.
fn read_file(path: &Path, most: u64) -> Result<Vec<u8>, Refusal> {
    let facts = fs::metadata(path).map_err(Refusal::Io)?;
    if facts.is_dir() {
        return Err(Refusal::Kind("a directory", "give the path of a file inside it"));
    }
    if !facts.is_file() {
        return Err(Refusal::Kind(
            "a pipe or device",
            "give a regular file, or `-` for a scenario on standard input",
        ));
    }
    if facts.len() > most {
        return Err(Refusal::TooLarge(format!("{:.1} MB", facts.len() as f64 / 1e6), most));
    }
    read_limited(&mut File::open(path).map_err(Refusal::Io)?, most)
}

fn read_limited(reader: &mut dyn Read, most: u64) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    reader.take(most + 1).read_to_end(&mut bytes).map_err(Refusal::Io)?;
    if bytes.len() as u64 > most {
        return Err(Refusal::TooLarge("it goes on after that".to_owned(), most));
    }
    Ok(bytes)
}

fn as_text(bytes: Vec<u8>) -> Result<String, Refusal> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Err(Refusal::Packed);
    }
    if is_utf_16(&bytes) {
        return Err(Refusal::Utf16);
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].split(|byte| *byte == b'\n').count();
        Refusal::NoText { byte: at, line }
    })
}

/// Whether a text was saved as UTF-16: it begins with its mark, or every other byte is zero.
fn is_utf_16(bytes: &[u8]) -> bool {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return true;
    }
    let begin = &bytes[..bytes.len().min(256)];
    let zeros = |odd: usize| begin.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    begin.len() >= 4 && (odd * 4 >= begin.len() || even * 4 >= begin.len()) && even.min(odd) == 0
}

/// A file of the same folder whose name is similar.
fn neighbour(path: &Path) -> Option<String> {
    let folder = match path.parent()? {
        folder if folder.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    };
    let mut names: Vec<String> = fs::read_dir(folder)
        .ok()?
        .take(1000)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    let written = path.file_name()?.to_str()?;
    let near = crate::diagnostic::closest(written, names.iter().map(String::as_str))?;
    // A link that leads nowhere is no help against itself.
    (near != written).then(|| path.with_file_name(near).display().to_string())
}

/// A text with a name, for [`super::parse`].
pub(super) fn is_blank(source: &SourceText) -> bool {
    source
        .text
        .split(['\n', '\r'])
        .all(|line| line.trim().is_empty() || line.trim_start().starts_with('#') || line.trim() == "---")
}

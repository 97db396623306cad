//! Files as text, within limits.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::diagnostic::{Code, Diagnostic, Place, SourceText};

/// Larger files are refused before they are parsed: 1 MB.
pub const MOST_BYTES: u64 = 1_000_000;

/// The name of a file that means standard input, where a person gives it on the command line.
pub const STDIN: &str = "-";

/// The text of a file that somebody named on the command line, or at `named_at` in another file.
///
/// # Errors
/// The file is missing, no file, too large, or no UTF-8 text.
pub fn read_text(path: &Path, named_at: Option<&Place>) -> Result<String, Box<Diagnostic>> {
    let shown = path.display();
    let fault = |code: Code, title: String, remark: &str| {
        let diagnostic = Diagnostic::error(code, title);
        Box::new(match named_at {
            Some(place) => diagnostic.at(place, remark),
            None => diagnostic,
        })
    };
    let unreadable = |error: &std::io::Error| {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "no such file".to_owned(),
            std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            _ => error.to_string(),
        };
        let mut diagnostic = fault(Code::Unreadable, format!("cannot read `{shown}`: {why}"), "named here");
        if let Some(near) = neighbour(path) {
            *diagnostic = diagnostic.help(format!("a file with a similar name exists: `{near}`"));
        }
        diagnostic
    };
    let too_large = |size: String| {
        let limit = MOST_BYTES / 1_000_000;
        let title = format!("`{shown}` is too large: {size}, and {limit} MB is the most");
        fault(Code::TooLarge, title, "named here")
    };
    let limited = |reader: &mut dyn Read| {
        let mut bytes = Vec::new();
        // Pipes and devices have no length in their metadata.
        reader.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(too_large("it goes on after that".to_owned()));
        }
        String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..at].split(|byte| *byte == b'\n').count();
            let title =
                format!("`{shown}` is not UTF-8 text: byte {at}, in line {line}, belongs to no character");
            fault(Code::Unreadable, title, "named here")
        })
    };
    if named_at.is_none() && path == Path::new(STDIN) {
        return limited(&mut std::io::stdin().lock());
    }
    let facts = fs::metadata(path).map_err(|error| unreadable(&error))?;
    if facts.is_dir() {
        return Err(Box::new(
            fault(Code::Unreadable, format!("`{shown}` is a directory, not a file"), "named here")
                .help("give the path of a file inside it"),
        ));
    }
    if facts.len() > MOST_BYTES {
        return Err(too_large(format!("{:.1} MB", facts.len() as f64 / 1e6)));
    }
    limited(&mut File::open(path).map_err(|error| unreadable(&error))?)
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
    Some(path.with_file_name(near).display().to_string())
}

/// A text with a name, for [`super::parse`].
pub(super) fn is_blank(source: &SourceText) -> bool {
    source
        .text
        .lines()
        .all(|line| line.trim().is_empty() || line.trim_start().starts_with('#') || line.trim() == "---")
}

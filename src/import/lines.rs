//! Lines of a stream, however they end and whatever they hold, in bounded memory.
//!
//! Lines end with LF or CR LF, mixed. A line longer than [`LONGEST`] bytes keeps its beginning; bytes that are not
//! UTF-8 become replacement characters. Both can still hold a figure; where they do not, they are shown as skipped.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use super::Summary;

/// The longest part of a line that is kept \[B\].
pub(super) const LONGEST: usize = 1 << 16;

/// A line of a file.
pub(super) struct Line<'a> {
    /// Counted from 1.
    pub(super) number: u64,
    /// Without its end.
    pub(super) text: &'a str,
}

/// What an importer made of a line.
pub(super) enum Seen {
    /// A figure was read.
    Read,
    /// About something else.
    Other,
    /// It looks like one of ours and cannot be read, because.
    Skipped(String),
}

/// Calls `visit` with every line, and counts. A read that fails ends the file there, and is noted.
pub(super) fn each_line(
    input: &mut dyn BufRead,
    summary: &mut Summary,
    mut visit: impl FnMut(&mut Summary, &Line) -> Seen,
) {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let long = match next(input, &mut bytes) {
            Ok(None) => return,
            Ok(Some(long)) => long,
            Err(error) => {
                summary.cut = Some(format!("reading stopped after line {}: {error}", summary.lines));
                return;
            }
        };
        summary.lines += 1;
        let whole = String::from_utf8_lossy(&bytes);
        let garbled = matches!(whole, Cow::Owned(_)) || whole.contains('\0');
        let first = summary.lines == 1;
        let text = if first { whole.strip_prefix('\u{feff}').unwrap_or(&whole) } else { &whole };
        let line = Line { number: summary.lines, text };
        match visit(summary, &line) {
            Seen::Read => summary.read += 1,
            Seen::Other if garbled => summary.skipped.note(line.number, "bytes that are no text", text),
            Seen::Other if long => summary.skipped.note(line.number, "longer than 64 KiB", text),
            Seen::Other => {}
            Seen::Skipped(why) => summary.skipped.note(line.number, &why, text),
        }
    }
}

/// The next line without its end, and whether it was longer than what is kept; none at the end of the file.
fn next(input: &mut dyn BufRead, bytes: &mut Vec<u8>) -> io::Result<Option<bool>> {
    let limit = LONGEST as u64 + 2;
    if Read::take(&mut *input, limit).read_until(b'\n', bytes)? == 0 {
        return Ok(None);
    }
    let ended = bytes.last() == Some(&b'\n');
    if ended {
        bytes.pop();
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    let long = bytes.len() > LONGEST;
    if long {
        bytes.truncate(LONGEST);
    }
    if !ended {
        discard_to_end(input)?;
    }
    Ok(Some(long))
}

fn discard_to_end(input: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if chunk.is_empty() {
            return Ok(());
        }
        if let Some(at) = chunk.iter().position(|byte| *byte == b'\n') {
            input.consume(at + 1);
            return Ok(());
        }
        let count = chunk.len();
        input.consume(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(mut bytes: &[u8]) -> (Vec<(u64, String)>, Summary) {
        let mut summary = Summary::default();
        let mut lines = Vec::new();
        each_line(&mut bytes, &mut summary, |_, line| {
            lines.push((line.number, line.text.to_owned()));
            Seen::Other
        });
        (lines, summary)
    }

    #[test]
    fn mixed_ends_marks_and_a_last_line_without_end() {
        let (lines, summary) = lines("\u{feff}a\r\nb\n\n\rc\r\nd".as_bytes());
        let expected = [(1, "a"), (2, "b"), (3, ""), (4, "\rc"), (5, "d")];
        assert_eq!(lines, expected.map(|(n, t)| (n, t.to_owned())));
        assert_eq!((summary.lines, summary.skipped.count), (5, 0));
    }

    #[test]
    fn garbage_and_overlong_lines_are_counted_and_kept_short() {
        let long = "x".repeat(3 * LONGEST);
        let bytes = [b"ok\n\xff\xfe\x00\n".as_slice(), long.as_bytes(), b"\nlast"].concat();
        let (lines, summary) = lines(&bytes);
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[2].1.len(), LONGEST);
        assert_eq!(lines[3], (4, "last".to_owned()));
        let noted: Vec<(u64, &str)> =
            summary.skipped.first.iter().map(|n| (n.line, n.why.as_str())).collect();
        assert_eq!(noted, [(2, "bytes that are no text"), (3, "longer than 64 KiB")]);
    }

    #[test]
    fn a_line_of_exactly_the_limit_is_whole() {
        for end in ["", "\n", "\r\n"] {
            let (lines, summary) = lines(format!("{}{end}", "x".repeat(LONGEST)).as_bytes());
            assert_eq!((lines.len(), lines[0].1.len(), summary.skipped.count), (1, LONGEST, 0));
        }
    }
}

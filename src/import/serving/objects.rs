//! JSON objects one after the other: one per line, in a list, or a single one over several lines, however long the whole.

use std::io::{self, BufRead};

use serde_json::Value;

use crate::import::Summary;

/// The longest object \[B\].
const LONGEST: usize = 1 << 22;

/// Takes an object with the line on which it ends; true: something was read from it.
pub(super) type Visit<'a> = dyn FnMut(u64, Value) -> Result<bool, String> + 'a;

/// Calls `visit` with every object. Text between objects, objects that are cut or broken and those that `visit` refuses are
/// counted as skipped.
pub(super) fn each(
    input: &mut dyn BufRead,
    visit: impl FnMut(u64, Value) -> Result<bool, String>,
) -> Summary {
    each_up_to(LONGEST, input, visit)
}

/// The same for objects of up to `longest` bytes.
pub(in crate::import) fn each_up_to(
    longest: usize,
    input: &mut dyn BufRead,
    mut visit: impl FnMut(u64, Value) -> Result<bool, String>,
) -> Summary {
    let mut summary = Summary::default();
    let mut scanner = Scanner { line: 1, column: 0, longest, ..Scanner::default() };
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                summary.cut = Some(format!("reading stopped in line {}: {error}", scanner.line));
                break;
            }
        };
        let length = chunk.len();
        if length == 0 {
            break;
        }
        for byte in chunk {
            scanner.byte(*byte, &mut visit, &mut summary);
        }
        input.consume(length);
    }
    scanner.end(&mut summary);
    summary
}

/// What is open while bytes come in.
#[derive(Default)]
struct Scanner {
    line: u64,
    column: u64,
    longest: usize,
    object: Vec<u8>,
    begun: u64,
    /// Braces that are open.
    depth: u32,
    quoted: bool,
    escaped: bool,
    /// What stood outside objects in this line.
    outside: Vec<u8>,
}

impl Scanner {
    fn byte(&mut self, byte: u8, visit: &mut Visit, summary: &mut Summary) {
        // A line that begins an object of its own shows that the one before was cut.
        if self.depth > 0 && byte == b'{' && self.column == 0 {
            self.drop_open("an object that does not end", summary);
        }
        if self.depth == 0 {
            self.between(byte, summary);
        } else {
            self.within(byte, visit, summary);
        }
        if byte == b'\n' {
            self.line += 1;
            self.column = 0;
        } else {
            self.column += 1;
        }
    }

    fn between(&mut self, byte: u8, summary: &mut Summary) {
        match byte {
            b'{' => {
                (self.depth, self.begun) = (1, self.line);
                self.object.push(byte);
            }
            b'\n' => self.end_of_line(summary),
            b'[' | b']' | b',' => {}
            _ if byte.is_ascii_whitespace() || b"\xef\xbb\xbf".contains(&byte) && self.line == 1 => {}
            _ if self.outside.len() < 256 => self.outside.push(byte),
            _ => {}
        }
    }

    fn within(&mut self, byte: u8, visit: &mut Visit, summary: &mut Summary) {
        self.object.push(byte);
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.quoted => self.escaped = true,
            b'"' => self.quoted = !self.quoted,
            _ if self.quoted => {}
            b'{' => self.depth += 1,
            b'}' => {
                self.depth -= 1;
                if self.depth == 0 {
                    let object = std::mem::take(&mut self.object);
                    if let Some(key) = crate::import::json::repeated_key(&object) {
                        let why = format!("the key `{key}` stands twice in one object: the last one counts");
                        summary.warn("repeated-key", self.line, &why, "");
                    }
                    match take(&object, self.line, visit) {
                        Ok(read) => summary.read += u64::from(read),
                        Err(why) => summary.skipped.note(self.begun, &why, &String::from_utf8_lossy(&object)),
                    }
                }
            }
            _ => {}
        }
        if self.object.len() > self.longest {
            self.drop_open("an object that is longer than any of these servers write", summary);
        }
    }

    fn drop_open(&mut self, why: &str, summary: &mut Summary) {
        let beginning = &self.object[..self.object.len().min(256)];
        summary.skipped.note(self.begun, why, &String::from_utf8_lossy(beginning));
        self.object.clear();
        (self.depth, self.quoted, self.escaped) = (0, false, false);
    }

    fn end_of_line(&mut self, summary: &mut Summary) {
        if !self.outside.is_empty() {
            summary.skipped.note(
                self.line,
                "text that is no JSON object",
                &String::from_utf8_lossy(&self.outside),
            );
            self.outside.clear();
        }
    }

    fn end(&mut self, summary: &mut Summary) {
        if self.depth > 0 {
            self.drop_open("an object that does not end", summary);
        }
        self.end_of_line(summary);
        summary.lines = if self.column > 0 { self.line } else { self.line - 1 };
    }
}

fn take(object: &[u8], line: u64, visit: &mut Visit) -> Result<bool, String> {
    let value = crate::import::json::parse(object).map_err(|error| format!("no JSON object: {error}"))?;
    visit(line, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(text: &str) -> (Vec<(u64, Value)>, Summary) {
        let mut found = Vec::new();
        let summary = each(&mut text.as_bytes(), |line, value| {
            found.push((line, value));
            Ok(true)
        });
        (found, summary)
    }

    #[test]
    fn lines_lists_and_spread_objects() {
        for text in [
            "{\"a\":1}\n{\"a\":{\"b\":\"}{\\\"\"}}\n",
            "[{\"a\":1},\n {\"a\":{\"b\":\"}{\\\"\"}}]",
            "{\n\"a\":\n1}{\"a\":2}",
        ] {
            let (found, summary) = import(text);
            assert_eq!((found.len(), summary.read, summary.skipped.count), (2, 2, 0), "{text}");
        }
        let long = format!("[{}{{}}]", "{\"a\": 1}, ".repeat(100_000));
        assert_eq!(import(&long).0.len(), 100_001, "a list may stand on one line of a megabyte");
    }

    #[test]
    fn cut_objects_and_other_text_are_counted() {
        let (found, summary) =
            import("{\"a\": \"cut\n{\"b\": 1}\nnot json\n{\"c\": 1} trailing\n{\"d\": tru}\n{\"e\"");
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(summary.skipped.count, 5, "{:?}", summary.skipped);
        assert_eq!(summary.lines, 6);
    }
}

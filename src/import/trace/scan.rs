//! The events of a trace as bytes, one at a time, however large the file.

use std::io::{self, BufRead};

/// The longest event that is kept \[B\]; shapes and stacks of some CPU operators are longer.
const LONGEST: usize = 1 << 20;
/// Brackets that are told apart; what lies deeper is passed over by counting.
const DEEPEST: usize = 256;
/// The longest key of the outermost object that is kept \[B\].
const KEY: usize = 64;

/// Something that was found.
pub(super) enum Found<'a> {
    /// An object of the list of events.
    Event(&'a [u8]),
    /// An object or number that is a value of the outermost object, with its key.
    Field(&'a str, &'a [u8]),
    /// An event longer than what is kept.
    TooLong,
}

/// How a file ended.
pub(super) enum End {
    /// Complete.
    Whole,
    /// Before its brackets were closed.
    Open,
    /// Reading failed.
    Failed(io::Error),
}

/// Calls `found` with everything of interest.
pub(super) fn scan(input: &mut dyn BufRead, mut found: impl FnMut(Found)) -> End {
    let mut scanner = Scanner::default();
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return End::Failed(error),
        };
        let length = chunk.len();
        if length == 0 {
            return if scanner.stack.is_empty() { End::Whole } else { End::Open };
        }
        for byte in chunk {
            scanner.byte(*byte, &mut found);
        }
        input.consume(length);
    }
}

// Each tells of another thing: the lexer's two, and the two of what is kept.
#[allow(clippy::struct_excessive_bools)]
#[derive(Default)]
struct Scanner {
    /// Brackets that are open, from the outermost.
    stack: Vec<u8>,
    /// Brackets that are open beyond [`DEEPEST`].
    deeper: u64,
    in_text: bool,
    escaped: bool,
    /// The last text directly in the outermost object: a key, or a value that nobody needs.
    key: Vec<u8>,
    /// The event or value that is kept.
    kept: Vec<u8>,
    keeping: bool,
    too_long: bool,
}

impl Scanner {
    fn byte(&mut self, byte: u8, found: &mut impl FnMut(Found)) {
        if self.in_text {
            self.text(byte);
            return;
        }
        match byte {
            b'"' => {
                self.in_text = true;
                if self.stack.len() == 1 && !self.keeping {
                    self.key.clear();
                }
                self.keep(byte);
            }
            b'{' | b'[' => self.open(byte),
            b'}' | b']' => self.close(byte, found),
            b',' if self.stack.len() == 1 => self.end_number(found),
            b':' if self.stack[..] == *b"{" => self.begin_number(),
            _ => self.keep(byte),
        }
    }

    fn text(&mut self, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = true,
            b'"' => self.in_text = false,
            _ => {}
        }
        if self.in_text && !self.keeping && self.stack.len() == 1 && self.key.len() < KEY {
            self.key.push(byte);
        }
        self.keep(byte);
    }

    fn keep(&mut self, byte: u8) {
        if !self.keeping {
            return;
        }
        if self.kept.len() < LONGEST {
            self.kept.push(byte);
        } else {
            self.too_long = true;
        }
    }

    fn open(&mut self, byte: u8) {
        // An event lies in the list of events, or in the outermost list; other values directly in the outermost object.
        let in_list = match self.stack[..] {
            [b'['] => true,
            [b'{', b'['] => self.key == b"traceEvents",
            _ => false,
        };
        let value = self.stack[..] == *b"{" && byte == b'{';
        if byte == b'{' && (in_list || value) {
            self.begin();
        } else if byte == b'[' && self.stack.len() == 1 {
            // A list is no number.
            self.keeping = false;
        }
        if self.stack.len() < DEEPEST {
            self.stack.push(byte);
        } else {
            self.deeper += 1;
        }
        self.keep(byte);
    }

    fn begin(&mut self) {
        self.kept.clear();
        (self.keeping, self.too_long) = (true, false);
    }

    fn begin_number(&mut self) {
        self.begin();
    }

    /// A number that was a value of the outermost object.
    fn end_number(&mut self, found: &mut impl FnMut(Found)) {
        if self.keeping && self.stack[..] == *b"{" {
            self.keeping = false;
            found(Found::Field(&String::from_utf8_lossy(&self.key), &self.kept));
        }
    }

    fn close(&mut self, byte: u8, found: &mut impl FnMut(Found)) {
        if self.deeper > 0 {
            self.deeper -= 1;
            self.keep(byte);
            return;
        }
        let opened = if byte == b'}' { b'{' } else { b'[' };
        if self.stack.last() != Some(&opened) {
            return;
        }
        if self.stack.len() == 1 {
            self.end_number(found);
        }
        self.keep(byte);
        self.stack.pop();
        if !self.keeping || byte != b'}' {
            return;
        }
        match (&self.stack[..], self.too_long) {
            ([b'['] | [b'{', b'['], false) => found(Found::Event(&self.kept)),
            ([b'['] | [b'{', b'['], true) => found(Found::TooLong),
            ([b'{'], _) => found(Found::Field(&String::from_utf8_lossy(&self.key), &self.kept)),
            _ => return,
        }
        self.keeping = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        scan(&mut text.as_bytes(), |found| {
            all.push(match found {
                Found::Event(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Found::Field(key, bytes) => format!("{key}={}", String::from_utf8_lossy(bytes).trim()),
                Found::TooLong => "too long".to_owned(),
            });
        });
        all
    }

    #[test]
    fn events_and_fields_wherever_they_stand() {
        let text = r#"{"schemaVersion": 1, "deviceProperties": [{"id": 0}], "distributedInfo": {"rank": 3, "pg": [{"a": 1}]},
            "traceEvents": [ {"ph": "X", "args": {"x": "}"}}, {"ph": "M"} ], "baseTimeNanoseconds": 17}"#;
        assert_eq!(
            found(text),
            [
                "schemaVersion=1",
                "distributedInfo={\"rank\": 3, \"pg\": [{\"a\": 1}]}",
                "{\"ph\": \"X\", \"args\": {\"x\": \"}\"}}",
                "{\"ph\": \"M\"}",
                "baseTimeNanoseconds=17"
            ]
        );
        assert_eq!(found(r#"[{"a": 1}, {"b": [{}]}, {"c""#), ["{\"a\": 1}", "{\"b\": [{}]}"]);
        assert_eq!(found("]}{,:").len(), 0);
    }

    #[test]
    fn brackets_without_end_take_no_memory() {
        let deep = "[".repeat(5 * DEEPEST);
        let mut scanner = Scanner::default();
        deep.bytes().for_each(|byte| scanner.byte(byte, &mut |_| {}));
        assert_eq!(scanner.stack.len(), DEEPEST);
        let text = format!(r#"[{{"a": {deep}{}}}, {{"b": 1}}]"#, "]".repeat(5 * DEEPEST));
        assert_eq!(found(&text).len(), 2);
    }
}

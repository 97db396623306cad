//! JSON documents that fit in memory, whole or cut.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, BufRead, Read};

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The longest document that is read at once \[B\].
const LONGEST: u64 = 64 << 20;

/// Whether the first thing in a stream is an object; nothing is consumed but white space and a byte order mark.
pub(super) fn begins_with_object(input: &mut dyn BufRead) -> bool {
    first_byte(input) == Some(b'{')
}

/// The first byte that is no white space.
pub(super) fn first_byte(input: &mut dyn BufRead) -> Option<u8> {
    loop {
        let chunk = input.fill_buf().ok()?;
        let first = chunk.first().copied()?;
        let skipped =
            chunk.iter().take_while(|b| b.is_ascii_whitespace() || b"\xef\xbb\xbf".contains(b)).count();
        if skipped == 0 {
            return Some(first);
        }
        input.consume(skipped);
    }
}

/// A value, as JSON or as Python writes it: bare `NaN` and `Infinity` become null.
///
/// # Errors
/// Where it is neither.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(bytes).or_else(|error| match without_bare_words(bytes) {
        Some(plain) => serde_json::from_slice(&plain),
        None => Err(error),
    })
}

/// The bytes with `NaN`, `Infinity` and `-Infinity` outside of texts replaced by null; none where there are none.
fn without_bare_words(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::with_capacity(bytes.len());
    let (mut in_text, mut escaped, mut found) = (false, false, false);
    let mut rest = bytes;
    while let Some((first, tail)) = rest.split_first() {
        let word = [&b"NaN"[..], b"Infinity", b"-Infinity"]
            .into_iter()
            .find(|word| !in_text && rest.starts_with(word));
        if let Some(word) = word {
            plain.extend_from_slice(b"null");
            (rest, found) = (&rest[word.len()..], true);
            continue;
        }
        match first {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ => {}
        }
        plain.push(*first);
        rest = tail;
    }
    found.then_some(plain)
}

/// A key that stands twice in one object, at any depth; none where every key stands once, or where the text is no JSON.
pub(super) fn repeated_key(bytes: &[u8]) -> Option<String> {
    serde_json::from_slice::<Repeated>(bytes).ok()?.0
}

/// The first key that stands twice.
struct Repeated(Option<String>);

impl<'de> Deserialize<'de> for Repeated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RepeatedVisitor)
    }
}

struct RepeatedVisitor;

impl<'de> Visitor<'de> for RepeatedVisitor {
    type Value = Repeated;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Repeated, E> {
        Ok(Repeated(None))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Repeated, E> {
        Ok(Repeated(None))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Repeated, E> {
        Ok(Repeated(None))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Repeated, E> {
        Ok(Repeated(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Repeated, E> {
        Ok(Repeated(None))
    }

    fn visit_str<E>(self, _: &str) -> Result<Repeated, E> {
        Ok(Repeated(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Repeated, A::Error> {
        let mut found = None;
        while let Some(Repeated(within)) = list.next_element()? {
            found = found.or(within);
        }
        Ok(Repeated(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Repeated, A::Error> {
        let (mut found, mut seen) = (None, BTreeSet::new());
        while let Some(key) = map.next_key::<String>()? {
            let Repeated(within) = map.next_value()?;
            let twice = (!seen.insert(key.clone())).then_some(key);
            found = found.or(twice).or(within);
        }
        Ok(Repeated(found))
    }
}

/// A document and whether its end was missing.
pub(super) struct Document {
    pub(super) value: Value,
    /// Why it is not whole, if it is not.
    pub(super) cut: Option<String>,
}

/// Reads a document. One whose end is missing gives what is complete of it.
///
/// # Errors
/// Why it is none, as a sentence.
pub(super) fn read(input: &mut dyn BufRead) -> Result<Document, String> {
    let mut bytes = Vec::new();
    let mut cut = Read::take(input, LONGEST + 1).read_to_end(&mut bytes).err();
    if bytes.len() as u64 > LONGEST {
        return Err("the document is larger than 64 MiB".to_owned());
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}');
    let error = match parse(text.as_bytes()) {
        Ok(value) => return Ok(Document { value, cut: cut.map(|error| error.to_string()) }),
        Err(error) => error,
    };
    if !error.is_eof() {
        return Err(format!("it is no JSON: {error}"));
    }
    cut.get_or_insert_with(|| io::ErrorKind::UnexpectedEof.into());
    let closed = closed(text).and_then(|text| parse(text.as_bytes()).ok());
    let value = closed.ok_or_else(|| format!("it is no JSON: {error}"))?;
    Ok(Document { value, cut: Some("the document ends too early: what is complete was read".to_owned()) })
}

/// A cut document, up to its last complete element, with its brackets closed.
fn closed(text: &str) -> Option<String> {
    let mut open: Vec<char> = Vec::new();
    let (mut in_text, mut escaped) = (false, false);
    let mut safe: Option<(usize, Vec<char>)> = None;
    for (at, c) in text.char_indices() {
        if in_text {
            (in_text, escaped) = (escaped || c != '"', !escaped && c == '\\');
            continue;
        }
        match c {
            '"' => in_text = true,
            '{' | '[' => {
                open.push(if c == '{' { '}' } else { ']' });
                safe = Some((at + 1, open.clone()));
            }
            '}' | ']' => {
                open.pop();
                safe = Some((at + 1, open.clone()));
            }
            ',' => safe = Some((at, open.clone())),
            _ => {}
        }
        if open.len() > 200 {
            return None;
        }
    }
    let (end, open) = safe?;
    Some(text[..end].chars().chain(open.into_iter().rev()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_value(text: &str) -> Value {
        let document = read(&mut text.as_bytes()).unwrap();
        assert!(document.cut.is_some(), "{text}");
        document.value
    }

    #[test]
    fn a_cut_document_gives_its_complete_elements() {
        assert_eq!(
            cut_value(r#"{"a": [1, 2, {"b": "x,y\"}", "c"#),
            serde_json::json!({"a": [1, 2, {"b": "x,y\"}"}]})
        );
        assert_eq!(cut_value(r#"{"a": [1, 2"#), serde_json::json!({"a": [1]}));
        assert_eq!(cut_value("{"), serde_json::json!({}));
        assert!(read(&mut "\"abc".as_bytes()).is_err());
        assert!(read(&mut "{\"a\" 1}".as_bytes()).is_err());
        assert!(read(&mut "".as_bytes()).is_err());
    }

    #[test]
    fn what_python_writes_bare_becomes_null() {
        let parsed = parse(br#"{"a": NaN, "b": [-Infinity, Infinity, 1], "c": "NaN \" Infinity"}"#).unwrap();
        assert_eq!(parsed, serde_json::json!({"a": null, "b": [null, null, 1], "c": "NaN \" Infinity"}));
        assert!(parse(b"{\"a\": Nan}").is_err());
    }

    #[test]
    fn keys_that_stand_twice() {
        let of = |text: &str| repeated_key(text.as_bytes());
        assert_eq!(of(r#"{"a": 1, "b": [{"a": 2.5}, null, true, "a", -1]}"#), None);
        assert_eq!(of(r#"{"a": 1, "b": 2, "a": 1}"#).as_deref(), Some("a"));
        assert_eq!(of(r#"{"a": [{"b": 1, "b": 2}]}"#).as_deref(), Some("b"));
        assert_eq!(of("{"), None);
    }

    #[test]
    fn the_first_byte_leaves_the_document() {
        let mut input = "\u{feff}\n {}".as_bytes();
        assert!(begins_with_object(&mut input));
        assert_eq!(input, b"{}");
        assert!(!begins_with_object(&mut "  # x".as_bytes()));
    }
}

//! Which family a log line belongs to, told in one pass over its bytes, and its text without wrappings.
//!
//! Nearly all lines of a server log are none of ours. Each mark below ends with a colon or an equals sign, so one look at
//! the bytes before each of these rejects a line without searching it for one word after the other.

use std::borrow::Cow;

/// Families of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// SGLang's `Decode batch`.
    SglangDecode,
    /// SGLang's `Prefill batch`.
    SglangPrefill,
    /// SGLang's flags, once per start.
    SglangFlags,
    /// vLLM V1's acceptance.
    VllmSpec,
    /// vLLM V0's acceptance.
    VllmV0Spec,
    /// vLLM's throughput.
    VllmEngine,
    /// vLLM's flags, once per start.
    VllmFlags,
    /// llama.cpp's acceptance of a request.
    LlamaAcceptance,
    /// llama.cpp's draft statistics.
    LlamaStatistics,
}

/// The marks, each with the byte after it; longer ones first where one ends with another.
const MARKS: &[(&str, Family)] = &[
    ("#running-req:", Family::SglangDecode),
    ("gen throughput (token/s):", Family::SglangDecode),
    ("accept len:", Family::SglangDecode),
    ("#new-seq:", Family::SglangPrefill),
    ("server_args=", Family::SglangFlags),
    ("SpecDecoding metrics:", Family::VllmSpec),
    ("Speculative metrics:", Family::VllmV0Spec),
    ("Avg generation throughput:", Family::VllmEngine),
    ("non-default args:", Family::VllmFlags),
    ("draft acceptance =", Family::LlamaAcceptance),
    ("draft acceptance rate =", Family::LlamaAcceptance),
    ("#calls(b,g,a) =", Family::LlamaStatistics),
];

/// The family of a line, by the first mark in it. A prefill line of SGLang also names running requests, so its own mark
/// comes first.
pub(super) fn family(line: &str) -> Option<Family> {
    let bytes = line.as_bytes();
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|b| matches!(b, b':' | b'=')).map(|at| from + at) {
        // The shortest mark has nine bytes.
        if at >= 8 && may_end_mark(bytes[at - 1]) {
            let head = &bytes[..=at];
            if let Some((_, family)) = MARKS.iter().find(|(mark, _)| head.ends_with(mark.as_bytes())) {
                return Some(*family);
            }
        }
        from = at + 1;
    }
    None
}

/// Last letters of the marks before their colon or equals sign.
const fn may_end_mark(byte: u8) -> bool {
    matches!(byte, b'q' | b')' | b'n' | b's' | b't' | b' ')
}

/// The text of a line without colour codes, and out of the JSON object that a container runtime or a structured logger put it in.
pub(super) fn unwrapped(line: &str) -> Cow<'_, str> {
    let inner = json_text(line).map_or(Cow::Borrowed(line), Cow::Owned);
    if inner.contains('\u{1b}') { Cow::Owned(without_colour(&inner)) } else { inner }
}

/// The log text of a JSON object: Docker's `log`, or the words that structured loggers use.
fn json_text(line: &str) -> Option<String> {
    const KEYS: [&str; 7] = ["log", "message", "msg", "MESSAGE", "line", "text", "event"];
    let start = line.trim_start();
    if !start.starts_with('{') {
        return None;
    }
    let value: serde_json::Value = serde_json::from_str(start.trim_end()).ok()?;
    let texts = KEYS.iter().filter_map(|key| value.get(key)?.as_str());
    texts.map(str::to_owned).find(|text| family(text).is_some())
}

/// Without ANSI escape sequences.
fn without_colour(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(sequence) = rest.strip_prefix('[') {
            let end = sequence.find(|c: char| ('@'..='~').contains(&c));
            rest = end.map_or("", |end| &sequence[end + 1..]);
        }
    }
    plain.push_str(rest);
    plain
}

/// The parts of a line that each begin a record: writers that share a pipe glue records together, and a cut record may be
/// followed by a whole one. Each part comes with what stands between it and the part before.
pub(super) fn records<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let mut starts = text.match_indices(mark).map(|(at, _)| at).peekable();
    let mut before = 0;
    std::iter::from_fn(move || {
        let start = starts.next()?;
        let end = starts.peek().copied().unwrap_or(text.len());
        let record = &text[start..end];
        // The prefix of the next record belongs to it: from its `[20..` on.
        let cut = if end < text.len() { record.rfind('[').unwrap_or(record.len()) } else { record.len() };
        let prefix = &text[before..start];
        before = start + cut;
        Some((prefix, &record[..cut]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_told_and_other_lines_are_none() {
        let told = [
            ("[x] Decode batch. #running-req: 1, #token: 5", Family::SglangDecode),
            ("[x] Prefill batch. #new-seq: 1, #running-req: 2", Family::SglangPrefill),
            ("half a line, accept len: 1.9", Family::SglangDecode),
            ("server_args=ServerArgs(model_path='x')", Family::SglangFlags),
            ("INFO SpecDecoding metrics: Mean", Family::VllmSpec),
            (
                "Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 2",
                Family::VllmEngine,
            ),
            ("draft acceptance = 0.64479 (", Family::LlamaAcceptance),
        ];
        for (line, family_) in told {
            assert_eq!(family(line), Some(family_), "{line}");
        }
        for line in
            ["", ":", "=", "INFO:     127.0.0.1:56326 - \"POST /v1/chat HTTP/1.1\" 200 OK", "::::====  q:"]
        {
            assert_eq!(family(line), None, "{line}");
        }
    }

    #[test]
    fn wrappings_come_off() {
        let docker = r#"{"log":"\u001b[32m[2025-06-07 21:25:14 TP0]\u001b[0m Decode batch. #running-req: 1\n","stream":"stdout"}"#;
        assert_eq!(unwrapped(docker), "[2025-06-07 21:25:14 TP0] Decode batch. #running-req: 1\n");
        let structured = r#"{"level":"info","event":"x","message":"Decode batch. #running-req: 1"}"#;
        assert_eq!(unwrapped(structured), "Decode batch. #running-req: 1");
        assert_eq!(unwrapped("{not json #running-req: 1"), "{not json #running-req: 1");
        assert_eq!(unwrapped("a\u{1b}[1;31mb\u{1b}[0m\u{1b}"), "ab");
    }

    #[test]
    fn glued_records_come_apart() {
        let text = "[t1] Decode batch. a: 1, #tok[t2 TP1] Decode batch. b: 2";
        let parts: Vec<_> = records(text, "Decode batch").collect();
        assert_eq!(parts, [("[t1] ", "Decode batch. a: 1, #tok"), ("[t2 TP1] ", "Decode batch. b: 2")]);
    }
}

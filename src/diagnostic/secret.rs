//! Secrets in quoted text: a line that is shown to explain a fault may hold a password, and reports get pasted.
//!
//! Hidden are values of names that end in a word for a secret (`--api-key VALUE`, `HF_TOKEN=VALUE`, `"password": "VALUE"`),
//! words behind `Bearer`, what stands between `//` and `@` of an address, and words that begin as the keys of known
//! services do. `draft_tokens: 3` and `token_budget: 8192` are no secrets.

use std::borrow::Cow;
use std::ops::Range;

/// Last words of names whose values are secret.
const WORDS: [&str; 11] = [
    "key",
    "apikey",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "credential",
    "credentials",
    "authorization",
];
/// Beginnings of keys that services hand out, and the least characters behind them.
const BEGINNINGS: [(&str, usize); 9] = [
    ("sk-", 6),
    ("hf_", 8),
    ("ghp_", 8),
    ("gho_", 8),
    ("github_pat_", 8),
    ("xoxb-", 8),
    ("AKIA", 12),
    ("nvapi-", 8),
    ("glpat-", 8),
];

/// The text with `*` for every byte of a secret, so that places in it stay right.
pub fn masked(text: &str) -> Cow<'_, str> {
    let found = secrets(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for range in found {
        let start = range.start.max(at);
        if start >= range.end {
            continue;
        }
        out.push_str(&text[at..start]);
        out.extend(std::iter::repeat_n('*', range.end - start));
        at = range.end;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

/// Where secrets stand, in order.
fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let words = words(text);
    for (at, word) in words.iter().enumerate() {
        let shown = &text[word.clone()];
        let known = BEGINNINGS.iter().any(|(begin, least)| {
            shown.strip_prefix(begin).is_some_and(|rest| {
                rest.chars().filter(char::is_ascii_alphanumeric).count() >= *least
                    || (rest.len() >= *least && rest.chars().any(|c| c.is_ascii_digit()))
            })
        });
        if known {
            found.push(word.clone());
        }
        let Some(next) = words.get(at + 1) else { continue };
        let between = &text[word.end..next.start];
        if is_secret_name(shown) && is_separator(shown, between) {
            found.push(value(text, next.start));
            // `Authorization: Bearer VALUE`.
            if let Some(after) = words.get(at + 2).filter(|_| is_scheme(&text[next.clone()])) {
                found.push(value(text, after.start));
            }
        } else if shown.eq_ignore_ascii_case("bearer") && between.trim().is_empty() && !between.contains('\n')
        {
            found.push(value(text, next.start));
        }
    }
    found.extend(addresses(text));
    found.sort_by_key(|range| range.start);
    found
}

fn is_scheme(word: &str) -> bool {
    ["bearer", "basic"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Runs of letters, digits, `_`, `-` and `.`.
fn words(text: &str) -> Vec<Range<usize>> {
    let of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        match (of_word(c), start) {
            (true, None) => start = Some(at),
            (false, Some(begin)) => {
                found.push(begin..at);
                start = None;
            }
            _ => {}
        }
    }
    found.extend(start.map(|begin| begin..text.len()));
    found
}

/// Whether the last part of a name is a word for a secret: `api-key`, `HF_TOKEN`, `apiKey`.
fn is_secret_name(name: &str) -> bool {
    let last = name.rsplit(['-', '_', '.']).next().unwrap_or_default();
    let camel = last.rfind(|c: char| c.is_ascii_uppercase()).filter(|at| *at > 0).map(|at| &last[at..]);
    let is = |part: &str| WORDS.iter().any(|word| part.eq_ignore_ascii_case(word));
    is(last) || camel.is_some_and(is)
}

/// Whether a name and its value stand apart by this. Blanks alone part a flag from its value; a bare `key:` is prose.
fn is_separator(name: &str, between: &str) -> bool {
    let bare = WORDS.iter().any(|word| name.eq_ignore_ascii_case(word)) && name.len() < 6;
    let part = between.chars().all(|c| matches!(c, ' ' | '\t' | '=' | ':' | '"' | '\'' | '\\'));
    let told = between.contains(['=', '"']) || (between.contains(':') && !bare) || name.starts_with('-');
    part && told && !between.is_empty()
}

/// A value from its beginning to the next blank or quote.
fn value(text: &str, start: usize) -> Range<usize> {
    let end = text[start..].find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '}'));
    start..end.map_or(text.len(), |end| start + end)
}

/// `user:password` of `https://user:password@host`.
fn addresses(text: &str) -> Vec<Range<usize>> {
    let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'');
    text.match_indices("://")
        .filter_map(|(at, _)| {
            let start = at + 3;
            let rest = &text[start..];
            let authority = &rest[..rest.find(ends).unwrap_or(rest.len())];
            authority.rfind('@').map(|end| start..start + end)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn values_of_secret_names_are_hidden_and_keep_their_length() {
        for (text, hidden) in [
            ("serve --api-key sk-123secret --port 3", "serve --api-key ************ --port 3"),
            ("--api-key=abc", "--api-key=***"),
            ("export HF_TOKEN=hello", "export HF_TOKEN=*****"),
            ("{\"password\": \"a b\", \"x\": 1}", "{\"password\": \"* b\", \"x\": 1}"),
            ("apiKey: abcd", "apiKey: ****"),
            ("Authorization: Bearer abc.def", "Authorization: ****** *******"),
            ("curl https://me:pw@host/x", "curl https://*****@host/x"),
            ("model: sk-abc123def", "model: ************"),
            ("x hf_AbCdEfGhIj y", "x ************* y"),
        ] {
            assert_eq!(masked(text), hidden);
            assert_eq!(masked(text).len(), text.len());
        }
    }

    #[test]
    fn what_scenarios_say_is_no_secret() {
        for text in [
            "draft_tokens: 3",
            "serving: { token_budget: 8192 }",
            "--speculative-num-draft-tokens 3",
            "a key of a box",
            "a key: which?",
            "random-token prompts: their accept length",
            "unknown key `draft`",
            "model: sk-x",
            "tokens = 3",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}

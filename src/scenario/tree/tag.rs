//! Tags of YAML (`!name`), which the parser passes over in silence.
//!
//! A tag stands before its value, on the same line or alone behind the key on the line above.

use crate::diagnostic::Place;

/// Tags that every YAML reader knows, and which change nothing that a scenario could mean otherwise.
const KNOWN: [&str; 8] = ["!", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq"];

/// The tag of the value at a place, unless it is one of YAML's own; the text of the document begins at `start`.
pub(super) fn tag_of(value: &Place, start: usize) -> Option<Place> {
    let text = &value.source.text;
    // Where the parser counts the tag to the value.
    let own = value.text().starts_with('!').then_some(value.range.start);
    let (begin, end) = match own {
        Some(begin) => (begin, begin + word_length(&text[begin..])),
        None => {
            word_before(&text[start..value.range.start]).map(|(begin, end)| (start + begin, start + end))?
        }
    };
    let tag = &text[begin..end];
    (tag.starts_with('!') && !KNOWN.contains(&tag)).then(|| Place::new(&value.source, begin..end))
}

fn word_length(text: &str) -> usize {
    text.find(|letter: char| letter.is_whitespace() || "[]{},".contains(letter)).unwrap_or(text.len())
}

/// The word that ends a text, where a tag can stand: behind a key, an item's dash or a bracket.
fn word_before(text: &str) -> Option<(usize, usize)> {
    let mut before = text.trim_end();
    // An anchor may stand between the tag and its value.
    if let Some(at) = last_word(before)
        && before[at..].starts_with('&')
    {
        before = before[..at].trim_end();
    }
    let lines = text[before.len()..].matches('\n').count();
    let line = &before[before.rfind('\n').map_or(0, |newline| newline + 1)..];
    if lines > 0 && line.contains('#') {
        return None;
    }
    let at = last_word(before)?;
    let owner = before[..at].trim_end();
    let behind_key = owner.is_empty() || owner.ends_with([':', '-', '?', '[', '{', ',', '\n']);
    let behind_anchor = last_word(owner).is_some_and(|word| owner[word..].starts_with('&'));
    (before[at..].starts_with('!') && (behind_key || behind_anchor)).then_some((at, before.len()))
}

/// Where the last word begins.
fn last_word(text: &str) -> Option<usize> {
    let border = |letter: char| letter.is_whitespace() || "[{,".contains(letter);
    let at = text.char_indices().rev().find(|(_, letter)| border(*letter));
    let at = at.map_or(0, |(at, letter)| at + letter.len_utf8());
    (at < text.len()).then_some(at)
}

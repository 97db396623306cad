//! Width of text on a terminal, and wrapping by words.

/// Columns that `text` takes: none for combining marks, two for wide East Asian characters and emoji, else one.
///
/// The ranges are the coarse blocks of Unicode Standard Annex 11; a scenario's name is the only text here that
/// can hold such characters.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(char_columns).sum()
}

const fn char_columns(c: char) -> usize {
    match c as u32 {
        0x0300..=0x036F | 0x200B..=0x200F | 0x20D0..=0x20FF | 0xFE00..=0xFE0F => 0,
        0x1100..=0x115F
        | 0x2E80..=0x303E
        | 0x3041..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// `text` cut to `width` columns, the last of them an ellipsis where something was cut.
pub(super) fn elide(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += char_columns(c);
        if used > width {
            break;
        }
        kept.push(c);
    }
    format!("{}…", kept.trim_end())
}

/// `text` as lines of at most `width` columns, broken at spaces. A word longer than a line stays whole, so that
/// a path or a command can still be copied; a number and its unit stay together.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in &words(text) {
        if !line.is_empty() && columns(&line) + 1 + columns(word) > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// A blank at which [`paragraph`] does not break; it prints as a plain one.
pub(super) const NO_BREAK: char = '\u{a0}';

/// Units that a line does not start with.
const UNITS: [&str; 16] =
    ["s", "ms", "µs", "us", "ns", "B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "GB/s", "tok/s", "%"];

/// The words of `text`, a number with its unit counting as one.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        let is_unit = UNITS.contains(&word.trim_end_matches(['.', ',', ';', ':', ')']));
        match words.last_mut() {
            Some(number) if is_unit && number.ends_with(|c: char| c.is_ascii_digit()) => {
                number.push(' ');
                number.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// A paragraph with `first` before its first line and `rest` before every other, each line ended by a newline.
pub(super) fn paragraph(text: &str, first: &str, rest: &str, width: usize) -> String {
    let room = width.saturating_sub(columns(first).max(columns(rest))).max(20);
    let mut out = String::new();
    for (i, line) in wrap(text, room).iter().enumerate() {
        out.push_str(if i == 0 { first } else { rest });
        out.push_str(&line.replace(NO_BREAK, " "));
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_take_no_column_and_wide_characters_two() {
        assert_eq!(columns("205 µs ≤ −30 % …"), 16);
        assert_eq!(columns("├─ ╰─ ±×"), 8);
        assert_eq!(columns("e\u{301}"), 1);
        assert_eq!(columns("模型"), 4);
    }

    #[test]
    fn words_stay_whole() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a/very/long/path b", 6), ["a/very/long/path", "b"]);
        assert_eq!(wrap("for 43.0 KB. More", 9), ["for", "43.0 KB.", "More"]);
        assert!(wrap("", 10).is_empty());
    }

    #[test]
    fn cut_text_says_so() {
        assert_eq!(elide("allreduce", 9), "allreduce");
        assert_eq!(elide("allreduce", 6), "allre…");
    }
}

//! One line of Markdown as plain text, wrapped. Knows emphasis, links and code; code is kept as it stands,
//! backticks included, since a terminal has no other way to show it.

/// The line without emphasis marks and link targets.
pub(super) fn plain(markdown: &str) -> String {
    let mut out = String::new();
    for (at, part) in markdown.split('`').enumerate() {
        if at % 2 == 1 {
            out.push('`');
            out.push_str(part);
            out.push('`');
        } else {
            out.push_str(&without_links(part).replace('*', ""));
        }
    }
    out
}

/// `[words](target)` becomes `words`.
fn without_links(text: &str) -> String {
    let Some((before, rest)) = text.split_once('[') else { return text.to_owned() };
    match rest.split_once("](").and_then(|(words, rest)| Some((words, rest.split_once(')')?.1))) {
        Some((words, after)) => format!("{before}{words}{}", without_links(after)),
        None => format!("{before}[{}", without_links(rest)),
    }
}

/// Words joined to lines of at most `columns` characters; a longer word has a line of its own.
pub(super) fn wrap(text: &str, columns: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= columns {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{plain, wrap};

    #[test]
    fn marks_go_and_code_stays() {
        for (markdown, text) in [
            ("a *b* **c**", "a b c"),
            ("`a * b` and *c*", "`a * b` and c"),
            ("see [the page](x.md#y) and [z]", "see the page and [z]"),
            ("[a](b)[c](d)", "ac"),
        ] {
            assert_eq!(plain(markdown), text);
        }
    }

    #[test]
    fn lines_break_at_words() {
        assert_eq!(wrap("aa bb cc", 5), "aa bb\ncc");
        assert_eq!(wrap("aaaaaaaa b", 3), "aaaaaaaa\nb");
        assert_eq!(wrap("µµ µµ", 5), "µµ µµ");
    }
}

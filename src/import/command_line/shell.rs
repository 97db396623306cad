//! Words of a script, as a POSIX shell splits them, without expanding anything.

/// One command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Command {
    /// Line on which it begins, counted from 1.
    pub(super) line: u64,
    pub(super) words: Vec<String>,
    /// The quote that is never closed.
    pub(super) unclosed: Option<&'static str>,
}

/// The commands of a script: parted by lines, `;`, `&&`, `||`, `|`, `&`; lines continue behind a backslash.
pub(super) fn commands(text: &str) -> Vec<Command> {
    let mut splitter = Splitter { line: 1, ..Splitter::default() };
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('\n') => splitter.next_line(),
                // CR LF, and blanks that a careless editor left behind the backslash.
                Some('\r' | ' ' | '\t') => {
                    while chars.peek().is_some_and(|c| matches!(c, ' ' | '\t' | '\r')) {
                        chars.next();
                    }
                    if chars.peek() == Some(&'\n') {
                        chars.next();
                        splitter.next_line();
                    } else {
                        splitter.push(' ');
                    }
                }
                Some(other) => splitter.push(other),
                None => {}
            },
            '\'' | '"' => {
                splitter.quoted = true;
                quoted(c, &mut chars, &mut splitter);
            }
            '#' if splitter.at_word_start() => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
            }
            '\n' | ';' | '&' | '|' => {
                splitter.end_command();
                if c == '\n' {
                    splitter.next_line();
                }
            }
            c if c.is_whitespace() => splitter.end_word(),
            c => splitter.push(c),
        }
    }
    splitter.end_command();
    splitter.done
}

fn quoted(quote: char, chars: &mut std::iter::Peekable<std::str::Chars>, splitter: &mut Splitter) {
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => return,
            '\\' if quote == '"' => match chars.next() {
                Some('\n') => splitter.next_line(),
                Some(c @ ('"' | '\\' | '$' | '`')) => splitter.push(c),
                Some(c) => {
                    splitter.push('\\');
                    splitter.push(c);
                }
                None => {}
            },
            '\n' => {
                splitter.push('\n');
                splitter.next_line();
            }
            c => splitter.push(c),
        }
    }
    splitter.current.unclosed = Some(if quote == '"' { "double quote" } else { "single quote" });
}

#[derive(Default)]
struct Splitter {
    line: u64,
    word: String,
    /// Whether the word has quotes, and is one even if empty.
    quoted: bool,
    current: Command,
    done: Vec<Command>,
}

impl Splitter {
    fn next_line(&mut self) {
        self.line += 1;
    }

    fn at_word_start(&self) -> bool {
        self.word.is_empty() && !self.quoted
    }

    fn push(&mut self, c: char) {
        self.word.push(c);
    }

    fn end_word(&mut self) {
        if !self.at_word_start() {
            if self.current.words.is_empty() {
                self.current.line = self.line;
            }
            self.current.words.push(std::mem::take(&mut self.word));
        }
        self.quoted = false;
    }

    fn end_command(&mut self) {
        self.end_word();
        let command = std::mem::take(&mut self.current);
        if !command.words.is_empty() {
            self.done.push(command);
        }
    }
}

/// `NAME=VALUE`.
pub(super) fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    named.then(|| (name.to_owned(), value.to_owned()))
}

/// Assignments in front of a command, also behind `env`, and the rest.
pub(super) fn environment(words: &[String]) -> (Vec<(String, String)>, &[String]) {
    // A prompt that was copied along, and `env` in front.
    let skipped =
        words.iter().take_while(|word| matches!(word.as_str(), "$" | "#" | "env" | "time" | "exec")).count();
    let words = &words[skipped..];
    let found: Vec<_> = words.iter().map_while(|word| assignment(word)).collect();
    let rest = &words[found.len()..];
    (found, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        commands(text).into_iter().map(|command| command.words).collect()
    }

    #[test]
    fn quotes_continuations_comments_and_separators() {
        assert_eq!(words("a 'b c' \"d\\\"e\" f\\ g ''"), [["a", "b c", "d\"e", "f g", ""]]);
        assert_eq!(
            words("a \\\n  --b 1 \\\r\n  --c # why\n\n# only\nd; e && f"),
            [vec!["a", "--b", "1", "--c"], vec!["d"], vec!["e"], vec!["f"]]
        );
        assert_eq!(words("a \\  \n b"), [["a", "b"]]);
        assert_eq!(words("x --y '{\"a\": 1,\n \"b\": 2}'"), [["x", "--y", "{\"a\": 1,\n \"b\": 2}"]]);
        assert_eq!(commands("\n\n  x 'y")[0].line, 3);
        assert_eq!(commands("x 'y")[0].unclosed, Some("single quote"));
    }

    #[test]
    fn variables_before_a_command() {
        let all: Vec<String> = ["$", "env", "A=1", "B_2=x=y", "cmd", "C=3"].map(str::to_owned).to_vec();
        let (found, rest) = environment(&all);
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(found, [pair("A", "1"), pair("B_2", "x=y")]);
        assert_eq!(rest, ["cmd", "C=3"]);
        assert_eq!(assignment("--a=b"), None);
    }
}

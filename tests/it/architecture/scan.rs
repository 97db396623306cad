//! Reads Rust source well enough to see which paths it uses and which calls it makes.
//!
//! No parser: comments, strings and characters are blanked out, code under `#[cfg(test)]` too, and the rest is
//! read token by token. Line numbers survive, since blanking keeps every newline.

/// A path used at a line, as absolute segments below the crate: `["cost", "PricedPass"]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Use {
    /// Line, from 1.
    pub(super) line: usize,
    /// Segments after `crate`.
    pub(super) path: Vec<String>,
}

/// The source with comments, strings and characters replaced by blanks; the file name in `#[path = "…"]` stays.
pub(super) fn code_only(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out: Vec<char> = chars.clone();
    let mut i = 0;
    while i < chars.len() {
        let end = match chars[i] {
            '/' if chars.get(i + 1) == Some(&'/') => find(&chars, i, '\n'),
            '/' if chars.get(i + 1) == Some(&'*') => end_of_block_comment(&chars, i),
            '"' => end_of_string(&chars, i),
            'r' if !in_word(&chars, i) && raw_hashes(&chars, i).is_some() => end_of_raw_string(&chars, i),
            '\'' => end_of_character(&chars, i),
            _ => i,
        };
        let kept = chars[..i].ends_with(&PATH);
        for place in out.iter_mut().take(end).skip(i) {
            if !kept && *place != '\n' {
                *place = ' ';
            }
        }
        i = end.max(i + 1);
    }
    out.into_iter().collect()
}

/// What stands before the file name of a module.
const PATH: [char; 9] = ['#', '[', 'p', 'a', 't', 'h', ' ', '=', ' '];

fn find(chars: &[char], from: usize, wanted: char) -> usize {
    chars[from..].iter().position(|c| *c == wanted).map_or(chars.len(), |n| from + n)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether the character before `i` belongs to the same word (`b` and `c` prefixes of literals do not count).
fn in_word(chars: &[char], i: usize) -> bool {
    let before = |n: usize| i.checked_sub(n).map(|at| chars[at]);
    match before(1) {
        Some('b' | 'c') => before(2).is_some_and(is_word),
        Some(c) => is_word(c),
        None => false,
    }
}

fn end_of_block_comment(chars: &[char], start: usize) -> usize {
    let (mut depth, mut i) = (0, start);
    while i < chars.len() {
        match (chars[i], chars.get(i + 1)) {
            ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
            ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            return i;
        }
    }
    i
}

fn end_of_string(chars: &[char], start: usize) -> usize {
    let mut i = start + 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

/// The number of `#` of a raw string that starts at `start`, if one does.
fn raw_hashes(chars: &[char], start: usize) -> Option<usize> {
    let hashes = chars[start + 1..].iter().take_while(|c| **c == '#').count();
    (chars.get(start + 1 + hashes) == Some(&'"')).then_some(hashes)
}

fn end_of_raw_string(chars: &[char], start: usize) -> usize {
    let hashes = raw_hashes(chars, start).unwrap_or(0);
    let mut i = start + hashes + 2;
    while i < chars.len() {
        if chars[i] == '"' && chars[i + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes {
            return i + 1 + hashes;
        }
        i += 1;
    }
    chars.len()
}

/// A character literal ends at its quote; a lifetime is left alone.
fn end_of_character(chars: &[char], start: usize) -> usize {
    match (chars.get(start + 1), chars.get(start + 2)) {
        (Some('\\'), _) => (find(chars, (start + 3).min(chars.len()), '\'') + 1).min(chars.len()),
        (Some(_), Some('\'')) => start + 3,
        _ => start,
    }
}

/// Blanks every item under `#[cfg(test)]` in source that `code_only` has cleaned, and names the modules, as paths
/// below the crate, that are declared there without a body: their files are test code. `module` is that of
/// the source; a `#[path = "…"]` names a file beside its own.
pub(super) fn without_tests(code: &str, module: &[String]) -> (String, Vec<Vec<String>>) {
    const MARK: &str = "#[cfg(test)]";
    let (mut rest, mut modules, mut from) = (code.to_owned(), Vec::new(), 0);
    while let Some(start) = rest[from..].find(MARK).map(|at| from + at) {
        let end = end_of_item(&rest, start + MARK.len());
        let item = &rest[start + MARK.len()..end];
        if let Some(name) = item.trim().strip_suffix(';').and_then(|head| head.rsplit_once("mod ")) {
            let beside = item.split_once("#[path = \"").and_then(|(_, rest)| rest.split_once(".rs\""));
            let mut path = module.to_vec();
            if beside.is_some() {
                path.pop();
            }
            path.push(beside.map_or(name.1.trim(), |(file, _)| file).to_owned());
            modules.push(path);
        }
        let blank: String = rest[start..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        rest.replace_range(start..end, &blank);
        from = start;
    }
    (rest, modules)
}

/// The byte after the item that starts at `from`: its `;`, or the brace that closes its body.
fn end_of_item(code: &str, from: usize) -> usize {
    let mut depth = 0_i32;
    for (at, c) in code[from..].char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' => depth -= 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return from + at + 1;
                }
            }
            ';' if depth == 0 => return from + at + 1,
            _ => {}
        }
    }
    code.len()
}

/// The module path of a file below `src`: `cost/pass.rs` is `["cost", "pass"]`, `lib.rs` is `[]`.
pub(super) fn module_of(file: &str) -> Vec<String> {
    let path = file.strip_suffix(".rs").unwrap_or(file);
    match path {
        "lib" | "main" => Vec::new(),
        _ => path.split('/').map(str::to_owned).collect(),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Sign(&'static str),
}

/// Words and the signs that matter for paths, each with its line.
fn tokens(code: &str) -> Vec<(usize, Token)> {
    let mut found = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let chars: Vec<char> = line.chars().collect();
        let mut i = 0;
        while i < chars.len() {
            let rest = &chars[i..];
            if is_word(chars[i]) {
                let length = rest.iter().take_while(|c| is_word(**c)).count();
                found.push((number + 1, Token::Word(rest[..length].iter().collect())));
                i += length;
                continue;
            }
            let sign = match rest {
                [':', ':', ..] => "::",
                ['{', ..] => "{",
                ['}', ..] => "}",
                [',', ..] => ",",
                [';', ..] => ";",
                ['*', ..] => "*",
                _ => "",
            };
            if !sign.is_empty() {
                found.push((number + 1, Token::Sign(sign)));
            } else if !chars[i].is_whitespace() {
                found.push((number + 1, Token::Sign("other")));
            }
            i += sign.len().max(1);
        }
    }
    found
}

/// Every path below the crate that cleaned source of module `module` uses: in `use` trees, in `pub use`, and in
/// line; `self` and `super` are resolved, also inside inline modules.
pub(super) fn uses(code: &str, module: &[String]) -> Vec<Use> {
    let tokens = tokens(code);
    let word = |at: usize| match tokens.get(at) {
        Some((_, Token::Word(word))) => Some(word.as_str()),
        _ => None,
    };
    let sign = |at: usize| match tokens.get(at) {
        Some((_, Token::Sign(sign))) => Some(*sign),
        _ => None,
    };
    let mut found = Vec::new();
    // The inline modules around the current token: name and the brace depth at which each ends.
    let mut inline: Vec<(String, usize)> = Vec::new();
    let (mut depth, mut i) = (0_usize, 0);
    while i < tokens.len() {
        match &tokens[i].1 {
            Token::Sign("{") => depth += 1,
            Token::Sign("}") => {
                depth = depth.saturating_sub(1);
                inline.retain(|(_, until)| *until <= depth);
            }
            Token::Word(keyword) if keyword == "mod" && sign(i + 2) == Some("{") => {
                inline.push((word(i + 1).unwrap_or("").to_owned(), depth + 1));
            }
            Token::Word(root)
                if matches!(root.as_str(), "crate" | "self" | "super" | "specplan")
                    && sign(i + 1) == Some("::")
                    && sign(i.wrapping_sub(1)) != Some("::") =>
            {
                let mut here = module.to_vec();
                here.extend(inline.iter().map(|(name, _)| name.clone()));
                i = path(&tokens, i, &here, &[], &mut found);
                continue;
            }
            _ => {}
        }
        i += 1;
    }
    found
}

/// Reads one path, with its groups, from token `at`; returns the token after it.
fn path(
    tokens: &[(usize, Token)],
    mut at: usize,
    here: &[String],
    before: &[String],
    found: &mut Vec<Use>,
) -> usize {
    let line = tokens[at].0;
    let mut segments = before.to_vec();
    loop {
        match tokens.get(at).map(|(_, token)| token) {
            Some(Token::Word(word)) => {
                match word.as_str() {
                    "crate" | "specplan" if segments.is_empty() => {}
                    "self" if segments.is_empty() => segments = here.to_vec(),
                    "self" => {}
                    "super" if segments.is_empty() => {
                        segments = here[..here.len().saturating_sub(1)].to_vec();
                    }
                    "super" => drop(segments.pop()),
                    name => segments.push(name.to_owned()),
                }
                at += 1;
            }
            Some(Token::Sign("{")) => {
                at += 1;
                while at < tokens.len() && tokens[at].1 != Token::Sign("}") {
                    if matches!(tokens[at].1, Token::Word(_)) || tokens[at].1 == Token::Sign("{") {
                        at = path(tokens, at, here, &segments, found);
                    } else {
                        at += 1;
                    }
                }
                return at + 1;
            }
            // A glob, or the end of a turbofish-less path.
            _ => break,
        }
        if tokens.get(at).map(|(_, token)| token) == Some(&Token::Sign("::")) {
            at += 1;
        } else {
            // Skip `as name`, so that the new name is not read as a path of its own.
            if tokens.get(at).map(|(_, token)| token) == Some(&Token::Word("as".to_owned())) {
                at += 2;
            }
            break;
        }
    }
    found.push(Use { line, path: segments });
    at
}

/// Names of `f64` parameters of functions in cleaned source, each with its line.
pub(super) fn f64_parameters(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = code[from..].find("fn ").map(|at| from + at) {
        from = at + 3;
        if code[..at].ends_with(is_word) {
            continue;
        }
        let Some(open) = start_of_parameters(code, from) else { break };
        let close = closing_parenthesis(code, open);
        let mut start = open + 1;
        for parameter in code[open + 1..close].split(',') {
            if let Some((name, kind)) = parameter.split_once(':')
                && kind.trim() == "f64"
            {
                let at_name = start + parameter.len() - parameter.trim_start().len();
                let line = code[..at_name].matches('\n').count() + 1;
                found.push((line, name.trim().trim_start_matches("mut ").to_owned()));
            }
            start += parameter.len() + 1;
        }
    }
    found
}

/// The parenthesis that opens the parameters of the function named at `from`, past its generic ones.
fn start_of_parameters(code: &str, from: usize) -> Option<usize> {
    let (mut depth, mut before) = (0, ' ');
    for (at, c) in code[from..].char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            '(' if depth == 0 => return Some(from + at),
            _ => {}
        }
        before = c;
    }
    None
}

fn closing_parenthesis(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (at, c) in code[open..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return open + at;
                }
            }
            _ => {}
        }
    }
    code.len()
}

/// The lines of cleaned source that hold `call`, not as the tail of a longer word.
pub(super) fn lines_with(code: &str, call: &str) -> Vec<usize> {
    let hit = |line: &str| {
        line.match_indices(call).any(|(at, _)| {
            let before = !line[..at].ends_with(is_word);
            let after = !call.ends_with(is_word) || !line[at + call.len()..].starts_with(is_word);
            before && after
        })
    };
    code.lines().enumerate().filter(|(_, line)| hit(line)).map(|(number, _)| number + 1).collect()
}

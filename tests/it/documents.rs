//! Holds the Markdown pages together: links lead somewhere, pages are about the program, and each page is
//! reachable.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// The top of the repository.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All Markdown pages, by path below the top.
fn pages() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder can be listed") {
            let path = entry.expect("a folder entry can be read").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !matches!(name.as_str(), "target" | ".git" | "out") {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                let text = std::fs::read_to_string(&path).expect("a page is UTF-8");
                found.push((path.strip_prefix(root()).expect("below the top").to_owned(), text));
            }
        }
    }
    found.sort();
    found
}

/// Lines outside fenced blocks, with their number from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((number + 1, line))
    })
}

/// Targets of the links and images in a line; code spans hold none.
fn targets(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for text in line.split('`').step_by(2) {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once("](") {
            let Some((target, more)) = after.split_once(')') else { break };
            found.push(target);
            rest = more;
        }
    }
    found
}

/// Links whose text is in code spans, as [`x`](y), lose their bracket to `targets`; join them first.
fn without_code_links(line: &str) -> String {
    line.replace("[`", "[").replace("`]", "]")
}

/// The anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    heading
        .trim_start_matches('#')
        .trim()
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    prose(text).filter(|(_, line)| line.starts_with('#')).map(|(_, line)| anchor(line)).collect()
}

/// The file a link of `page` leads to, below the top.
fn resolve(page: &Path, target: &str) -> PathBuf {
    let mut path = page.parent().map(Path::to_owned).unwrap_or_default();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path
}

fn is_external(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

#[test]
fn links_lead_to_files_and_headings_that_exist() {
    let mut faults = Vec::new();
    for (page, text) in pages() {
        for (number, line) in prose(&text) {
            let line = without_code_links(line);
            for target in targets(&line).into_iter().filter(|target| !is_external(target)) {
                let (file, heading) = target.split_once('#').map_or((target, None), |(f, h)| (f, Some(h)));
                let path = if file.is_empty() { page.clone() } else { resolve(&page, file) };
                let place = format!("{}:{number}: `{target}`", page.display());
                if !root().join(&path).exists() {
                    faults.push(format!("{place} leads to no file"));
                } else if let Some(heading) = heading {
                    let there = std::fs::read_to_string(root().join(&path)).unwrap_or_default();
                    if !anchors(&there).contains(heading) {
                        faults.push(format!("{place} leads to no heading"));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_page_of_the_documentation_is_linked() {
    let pages = pages();
    let mut linked = BTreeSet::new();
    for (page, text) in &pages {
        for (_, line) in prose(text) {
            let line = without_code_links(line);
            for target in targets(&line).into_iter().filter(|target| !is_external(target)) {
                let file = resolve(page, target.split('#').next().unwrap_or(target));
                // A link to a folder shows its README.
                linked.insert(file.join("README.md"));
                linked.insert(file);
            }
        }
    }
    let lost: Vec<_> = pages
        .iter()
        .filter(|(page, _)| page.starts_with("docs") && !linked.contains(page))
        .map(|(page, _)| page.display().to_string())
        .collect();
    assert!(lost.is_empty(), "no page links to:\n{}", lost.join("\n"));
}

/// What in a line is about one machine or about how the text came to be, instead of about the program.
fn foreign(line: &str) -> Option<&str> {
    let words = line.split(|c: char| c.is_whitespace() || "`()\"',;<>|".contains(c));
    words.into_iter().find(|word| {
        let absolute = word.strip_prefix('/').is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_alphabetic()) && rest.contains('/') && rest != "dev/null"
        });
        let lower = word.to_lowercase();
        absolute || ["session", "sessions", "helper", "helpers"].contains(&lower.trim_end_matches(['.', ':']))
    })
}

#[test]
fn pages_speak_of_the_program_only() {
    let mut faults = Vec::new();
    for (page, text) in pages() {
        for (number, line) in text.lines().enumerate() {
            if let Some(word) = foreign(line) {
                faults.push(format!("{}:{}: `{word}`", page.display(), number + 1));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn named_documents_exist() {
    // Names like ARCHITECTURE.md are documents of this repository wherever they are named.
    let known: BTreeSet<String> = pages()
        .iter()
        .filter_map(|(page, _)| Some(page.file_name()?.to_string_lossy().into_owned()))
        .collect();
    let mut faults = Vec::new();
    let mut check = |place: &Path, text: &str| {
        for (number, line) in text.lines().enumerate() {
            for word in line.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))) {
                let name = word.trim_end_matches('.');
                let capital = name.strip_suffix(".md").is_some_and(|stem| {
                    !stem.is_empty() && stem.chars().all(|c| c.is_ascii_uppercase() || c == '_')
                });
                if capital && !known.contains(name) {
                    faults.push(format!("{}:{}: {name}", place.display(), number + 1));
                }
            }
        }
    };
    for (page, text) in pages() {
        check(&page, &text);
    }
    for path in sources() {
        check(&path, &std::fs::read_to_string(&path).expect("a source file is UTF-8"));
    }
    assert!(faults.is_empty(), "no such document:\n{}", faults.join("\n"));
}

/// Source, scenario and calibration files.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> =
        ["src", "scenarios", "calibration"].map(|name| root().join(name)).to_vec();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.map(|entry| entry.expect("a folder entry can be read").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs" || e == "yaml") {
                found.push(path);
            }
        }
    }
    found
}

// ------------------------------------------------------------------------------- the rules can fail

#[test]
fn links_are_read_as_github_reads_them() {
    let line = without_code_links("a [b](c.md#d), ![e](f.svg) and [`g`](h) but `[i](j)`");
    assert_eq!(targets(&line), ["c.md#d", "f.svg", "h"]);
    assert_eq!(anchor("## Ring, 2(n − 1) steps"), "ring-2n--1-steps");
    assert_eq!(resolve(Path::new("docs/how-to/a.md"), "../reference/b.md"), Path::new("docs/reference/b.md"));
    let lines: Vec<_> = prose("a\n```sh\nb\n```\nc").collect();
    assert_eq!(lines, [(1, "a"), (5, "c")]);
}

#[test]
fn foreign_words_are_seen() {
    for (line, word) in [
        ("see `/home/me/x.yaml`", Some("/home/me/x.yaml")),
        ("in the last session.", Some("session.")),
        ("GET /server_info > /dev/null", None),
        ("and/or, docs/validation/table.md", None),
        ("tok/s", None),
    ] {
        assert_eq!(foreign(line), word, "{line}");
    }
}

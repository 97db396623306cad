//! Terms of the field, as text for a terminal.
//!
//! The text is `docs/glossary.md`, compiled in, so that the page and `specplan explain` cannot differ. An entry
//! is a heading, perhaps a line `Also:` with other names, and one paragraph.

mod text;

use std::sync::OnceLock;

/// The glossary as it stands in the repository.
const GLOSSARY: &str = include_str!("../docs/glossary.md");

/// Columns of a terminal page.
const COLUMNS: usize = 80;

/// Least similarity (Jaro-Winkler, 0 to 1) of a long name that is worth suggesting, letters from which a name is long, and
/// how many are suggested. Two short words share half of their letters by chance, so for them edits count.
const SIMILAR: f64 = 0.85;
const LONG: usize = 7;
const SUGGESTIONS: usize = 3;

/// A term and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The term, as its heading writes it.
    pub name: &'static str,
    /// Other names under which it is found.
    pub aliases: Vec<&'static str>,
    /// One paragraph of Markdown, on one line.
    pub markdown: &'static str,
}

impl Entry {
    /// The entry for a terminal: the name, an empty line, the paragraph without Markdown, wrapped at 80 columns.
    /// Ends with a newline.
    pub fn to_text(&self) -> String {
        let mut page = format!("{}\n", self.name);
        if !self.aliases.is_empty() {
            page.push_str(&text::wrap(&format!("also: {}", self.aliases.join(", ")), COLUMNS));
            page.push('\n');
        }
        page.push('\n');
        page.push_str(&text::wrap(&text::plain(self.markdown), COLUMNS));
        page.push('\n');
        page
    }

    fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// All terms, in the order of the page (alphabetical).
pub fn terms() -> &'static [Entry] {
    static TERMS: OnceLock<Vec<Entry>> = OnceLock::new();
    TERMS.get_or_init(|| entries(GLOSSARY))
}

/// The term of that name or alias; capitals, hyphens, underscores and blanks make no difference.
///
/// ```
/// let entry = specplan::explain::term("accept-length").unwrap();
/// assert_eq!(entry.name, "accept length");
/// assert_eq!(specplan::explain::term("All_Reduce").unwrap().name, "all-reduce");
/// assert!(specplan::explain::term("frobnicate").is_none());
/// ```
pub fn term(name: &str) -> Option<&'static Entry> {
    let wanted = key(name);
    terms().iter().find(|entry| entry.names().any(|n| key(n) == wanted))
}

/// Terms with a name like this one, the most similar first, at most three.
///
/// ```
/// assert_eq!(specplan::explain::similar("acept lenght"), ["accept length"]);
/// ```
pub fn similar(name: &str) -> Vec<&'static str> {
    let wanted = key(name);
    let likeness = |entry: &Entry| entry.names().map(|n| likeness(&key(n), &wanted)).fold(0.0, f64::max);
    let mut found: Vec<(f64, &'static str)> = terms()
        .iter()
        .map(|entry| (likeness(entry), entry.name))
        .filter(|(likeness, _)| *likeness > 0.0)
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    // A clear winner makes the rest noise.
    let best = found.first().map_or(0.0, |(likeness, _)| *likeness);
    found.into_iter().filter(|(l, _)| best - l < 0.1).take(SUGGESTIONS).map(|(_, name)| name).collect()
}

/// How like two keys are, 0 where they are not: by edits (swapped letters are one) where at most one in three letters
/// differs, by Jaro-Winkler where both are long.
fn likeness(name: &str, wanted: &str) -> f64 {
    let letters = name.chars().count().max(wanted.chars().count());
    let edits = strsim::damerau_levenshtein(name, wanted);
    if edits <= (letters / 3).max(1) && letters > 1 {
        return 1.0 - edits as f64 / letters as f64 / 2.0;
    }
    let alike = strsim::jaro_winkler(name, wanted);
    if wanted.chars().count() >= LONG && alike >= SIMILAR { alike } else { 0.0 }
}

/// A name without what people write differently.
fn key(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// The entries of a glossary page.
fn entries(page: &'static str) -> Vec<Entry> {
    page.split("\n## ").skip(1).map(entry).collect()
}

fn entry(section: &'static str) -> Entry {
    let (name, body) = section.split_once('\n').unwrap_or((section, ""));
    let body = body.trim();
    let (aliases, markdown) = match body.strip_prefix("Also: ") {
        Some(rest) => {
            let (aliases, text) = rest.split_once('\n').unwrap_or((rest, ""));
            (aliases.split(", ").collect(), text.trim())
        }
        None => (Vec::new(), body),
    };
    Entry { name, aliases, markdown }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_entry_is_one_paragraph_of_some_length() {
        assert!(terms().len() > 50, "{}", terms().len());
        for entry in terms() {
            assert!(!entry.markdown.contains('\n'), "{}: more than one line", entry.name);
            assert!(entry.markdown.chars().count() > 60, "{}: too short to help", entry.name);
            assert!(entry.markdown.ends_with('.'), "{}: ends without a full stop", entry.name);
        }
    }

    #[test]
    fn names_lead_to_one_entry_each_and_are_in_order() {
        let mut owners = BTreeMap::new();
        for entry in terms() {
            for name in entry.names() {
                if let Some(other) = owners.insert(key(name), entry.name) {
                    assert_eq!(other, entry.name, "`{name}` leads to two entries");
                }
            }
        }
        let names: Vec<String> = terms().iter().map(|entry| entry.name.to_lowercase()).collect();
        let mut sorted = names.clone();
        sorted.sort();
        assert_eq!(names, sorted);
    }

    #[test]
    fn accept_length_is_defined_once_and_for_all() {
        let definition = "okens gained per verify pass, *bonus token included*, 1 ≤ L ≤ k + 1, k = longest \
                          drafted chain (for a chain k + 1 = rows verified).";
        for name in ["accept-length", "AL", "tau", "AcceptLength", "accept_length"] {
            assert!(term(name).expect(name).markdown.contains(definition), "{name}");
        }
    }

    #[test]
    fn the_words_of_a_report_are_explained() {
        for word in [
            "measured",
            "given",
            "derived",
            "fitted",
            "roofline",
            "assumed",
            "extrapolated",
            "draft free",
            "ties",
            "what-if",
            "elasticity",
            "crossover",
            "host-bound",
            "graph",
            "eager",
            "verify",
            "cycle",
            "largest lever",
            "if drafting were free",
            "*",
            "†",
            "predicted",
            "share",
            "waiting for the hosts",
            "all else",
            "finding",
        ] {
            assert!(term(word).is_some(), "{word}");
        }
    }

    #[test]
    fn every_method_server_and_backend_has_an_entry() {
        let methods = ["eagle3", "mtp", "draft-model", "ngram", "n-gram"];
        let servers = ["sglang", "vllm", "pytorch", "cuda"];
        let backends = [
            "auto",
            "nccl",
            "nccl-symmetric",
            "custom-all-reduce",
            "flashinfer-fused",
            "flashinfer-pcie",
            "mscclpp",
            "torch-symm-mem",
            "quick-reduce",
            "one-shot",
            "two-shot",
        ];
        for word in methods.into_iter().chain(servers).chain(backends) {
            assert!(term(word).is_some(), "{word}");
        }
    }

    #[test]
    fn a_terminal_page_fits_and_shows_no_markdown() {
        for entry in terms() {
            let page = entry.to_text();
            assert!(page.lines().all(|line| line.chars().count() <= COLUMNS), "{page}");
            // Names such as `*` stand in the second line.
            let body: String = page.lines().skip(2).collect();
            assert!(!body.contains("**") && !body.contains(" *") && !body.contains("]("), "{page}");
        }
        let page = term("bonus token").expect("is a term").to_text();
        assert!(page.starts_with("bonus token\nalso: bonus\n\nThe token that the target itself"), "{page}");
    }

    #[test]
    fn a_slip_is_met_with_a_suggestion_and_nonsense_with_none() {
        assert_eq!(similar("allreduse").first(), Some(&"all-reduce"));
        assert_eq!(similar("rooflime").first(), Some(&"roofline"));
        assert!(similar("xyzzy").is_empty());
        // Short words: an edit or two, not a letter in common.
        assert_eq!(similar("ncl").first(), Some(&"NCCL"));
        assert_eq!(similar("tpto").first(), Some(&"TPOT"));
        assert!(!similar("nccl").contains(&"cycle"));
        assert!(similar("dra").len() <= SUGGESTIONS);
    }
}

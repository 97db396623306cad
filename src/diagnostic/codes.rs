//! The kinds of errors: a stable code, a title, and a paragraph for `specplan explain S003`.

mod texts;

use std::fmt;
use std::str::FromStr;

pub use texts::ENTRIES;

/// A kind of error. Codes are never reused; the number is its position in [`ENTRIES`], counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// A key that does not exist.
    UnknownKey = 1,
    /// A value of the wrong kind: text for a number, a list for a map.
    WrongType,
    /// A quantity without its unit.
    MissingUnit,
    /// A unit that does not fit the key.
    WrongUnit,
    /// A word that is not among the allowed ones.
    UnknownWord,
    /// A number outside its range, NaN or infinity.
    OutOfRange,
    /// The same key twice.
    DuplicateKey,
    /// Not YAML.
    Syntax,
    /// A file that cannot be read.
    Unreadable,
    /// A file that is too large or too deep to be a scenario.
    TooLarge,
    /// Acceptance described in no way or in several.
    AcceptanceKind,
    /// An accept length beyond the rows that are verified.
    AcceptLength,
    /// Steps, topk and draft tokens that do not go together.
    DraftShape,
    /// A tensor-parallel size that does not divide the heads.
    TensorParallel,
    /// A model larger than the memory of the GPUs.
    Memory,
    /// More ranks than GPUs.
    Ranks,
    /// Probabilities that cannot be.
    Probabilities,
    /// Observed parts larger than their whole.
    Parts,
    /// A preset or file that does not exist.
    UnknownName,
    /// Scenarios that extend each other in a circle.
    ExtendsCycle,
    /// Something is missing without which nothing can be answered.
    Incomplete,
    /// Keys that contradict each other.
    Contradiction,
    /// A file that is named by the scenario and cannot be used.
    ReferencedFile,
    /// An override that cannot be read.
    Override,
}

/// What is known about a kind of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The kind.
    pub code: Code,
    /// One clause.
    pub title: &'static str,
    /// What it means and why it is an error.
    pub what: &'static str,
    /// A file or command that shows it.
    pub example: &'static str,
    /// What to write instead.
    pub fix: &'static str,
}

impl Code {
    /// What is known about it.
    pub fn entry(self) -> &'static Entry {
        &ENTRIES[self as usize - 1]
    }

    /// The paragraph that `specplan explain S003` prints.
    pub fn explanation(self) -> String {
        let Entry { title, what, example, fix, .. } = self.entry();
        let example: Vec<String> = example.lines().map(|line| format!("    {line}")).collect();
        format!("{self}: {title}\n\n{what}\n\nExample:\n\n{}\n\n{fix}\n", example.join("\n"))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "S{:03}", *self as u16)
    }
}

impl FromStr for Code {
    type Err = ();

    /// Reads `S012` or `s012`.
    fn from_str(text: &str) -> Result<Self, ()> {
        ENTRIES
            .iter()
            .map(|entry| entry.code)
            .find(|code| code.to_string().eq_ignore_ascii_case(text))
            .ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_its_position_and_reads_back() {
        for (position, entry) in ENTRIES.iter().enumerate() {
            assert_eq!(entry.code as usize, position + 1, "{}", entry.title);
            assert_eq!(entry.code.to_string().parse(), Ok(entry.code));
            assert_eq!(entry.code.entry(), entry);
        }
        assert_eq!(Code::MissingUnit.to_string(), "S003");
        assert_eq!(Code::AcceptLength.to_string(), "S012");
        assert_eq!("s999".parse::<Code>(), Err(()));
        assert_eq!(ENTRIES.last().map(|entry| entry.code), Some(Code::Override), "an entry for every code");
    }
}

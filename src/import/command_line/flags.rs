//! The flags of a command, each taken at most once, and what is left of them.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::diagnostic::masked;

/// One flag with the words behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Flag {
    /// With dashes in front, underscores turned into dashes.
    name: String,
    values: Vec<String>,
    used: bool,
}

/// A flag whose value cannot be read: what it sets is not known, which is not the same as the server's default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// The flag, by the first of its names.
    pub flag: String,
    /// What stands behind it; empty: nothing.
    pub text: String,
}

/// The flags of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Flags {
    /// Words that belong to no flag.
    pub(super) positional: Vec<String>,
    given: Vec<Flag>,
    /// Flags whose value says no figure, by their first name, and what they hold instead.
    pub(super) unread: Vec<Unread>,
    /// Flags that stand several times and contradict themselves.
    repeated: Vec<String>,
}

impl Flags {
    /// Parts words into flags with their values.
    pub(super) fn of(words: &[String]) -> Self {
        let mut all = Self::default();
        for word in words {
            if is_flag(word) {
                let (name, value) = match word.split_once('=') {
                    Some((name, value)) => (name, vec![value.to_owned()]),
                    None => (word.as_str(), Vec::new()),
                };
                // Dots lead into a JSON value, whose keys have underscores.
                let (head, rest) =
                    name.split_once('.').map_or((name, None), |(head, rest)| (head, Some(rest)));
                let head = head.replace('_', "-");
                let name = rest.map_or(head.clone(), |rest| format!("{head}.{rest}"));
                all.given.push(Flag { name, values: value, used: false });
            } else if let Some(flag) = all.given.last_mut() {
                flag.values.push(word.clone());
            } else {
                all.positional.push(word.clone());
            }
        }
        all
    }

    /// The first value of the last flag of one of these names; the flag counts as used. Others that say something else
    /// are told by [`Flags::repeated`].
    pub(super) fn text(&mut self, names: &[&str]) -> Option<String> {
        let at = self.last(names)?;
        let last = self.given[at].values.first().cloned();
        let mut others: Vec<String> = Vec::new();
        for flag in self.given.iter_mut().filter(|flag| names.contains(&flag.name.as_str())) {
            if !flag.used && flag.values.first() != last.as_ref() {
                others.push(flag.values.first().cloned().unwrap_or_default());
            }
            flag.used = true;
        }
        if !others.is_empty() {
            let (name, last) = (names[0], last.as_deref().unwrap_or_default());
            self.repeated.push(format!(
                "{name} stands several times and says {} and `{last}`: the server takes the last",
                others.iter().map(|other| format!("`{other}`")).collect::<Vec<_>>().join(", ")
            ));
        }
        last
    }

    fn last(&self, names: &[&str]) -> Option<usize> {
        self.given.iter().rposition(|flag| names.contains(&flag.name.as_str()))
    }

    /// What [`Flags::text`] met of flags that contradict themselves.
    pub(super) fn repeated(&mut self) -> Vec<String> {
        std::mem::take(&mut self.repeated)
    }

    /// A count, from 1. What says none is reported through `wrong` and kept in `unread`.
    pub(super) fn whole(&mut self, names: &[&str], wrong: &mut dyn FnMut(String)) -> Option<u32> {
        self.last(names)?;
        let text = self.text(names).unwrap_or_default();
        let number = text.replace('_', "").parse().ok().filter(|number| (1..1 << 30).contains(number));
        if number.is_none() {
            let (name, found) = (names[0], if text.is_empty() { "nothing" } else { &text });
            wrong(format!("{name} takes a whole number from 1, not `{found}`: what it sets is left out"));
            self.unread.push(Unread { flag: name.to_owned(), text });
        }
        number
    }

    /// Whether a switch is there; `--flag false` is off.
    pub(super) fn switch(&mut self, names: &[&str]) -> bool {
        let Some(at) = self.given.iter().rposition(|flag| names.contains(&flag.name.as_str())) else {
            return false;
        };
        self.given[at].used = true;
        !matches!(self.given[at].values.first().map(String::as_str), Some("false" | "False" | "0"))
    }

    /// A JSON object, given whole or key by key behind dots.
    pub(super) fn object(
        &mut self,
        names: &[&str],
        wrong: &mut dyn FnMut(String),
    ) -> Option<Map<String, Value>> {
        let mut object = Map::new();
        let mut found = false;
        for flag in &mut self.given {
            if names.contains(&flag.name.as_str()) {
                (flag.used, found) = (true, true);
                let text = flag.values.join(" ");
                if let Ok(Value::Object(map)) = serde_json::from_str(&text) {
                    object.extend(map);
                } else {
                    wrong(format!("{} takes a JSON object, not `{text}`", flag.name));
                    self.unread.push(Unread { flag: names[0].to_owned(), text });
                }
            } else if let Some((head, key)) = flag.name.split_once('.')
                && names.contains(&head)
            {
                found = true;
                let text = flag.values.join(" ");
                let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
                object.insert(key.to_owned(), value);
                flag.used = true;
            }
        }
        found.then_some(object)
    }

    /// Flags that were taken, by name.
    pub(super) fn used(&self) -> Vec<String> {
        self.given.iter().filter(|flag| flag.used).map(|flag| flag.name.clone()).collect()
    }

    /// Flags that were not, with their values. What looks like a secret loses its value.
    pub(super) fn left(&self) -> Vec<String> {
        let shown = |flag: &Flag| {
            let secret = ["key", "token", "secret", "password"].iter().any(|word| flag.name.contains(word));
            let values = if secret { vec!["...".to_owned()] } else { flag.values.clone() };
            let line = std::iter::once(flag.name.clone()).chain(values).collect::<Vec<_>>().join(" ");
            if secret { line } else { masked(&line).into_owned() }
        };
        self.given.iter().filter(|flag| !flag.used).map(shown).collect()
    }
}

/// A word that begins with a dash and is no negative number.
fn is_flag(word: &str) -> bool {
    let rest = word.strip_prefix('-').unwrap_or("");
    rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '-')
        && !rest.trim_start_matches('-').is_empty()
}

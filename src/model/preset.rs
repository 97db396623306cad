//! Models and drafts that ship with the tool.

mod data;

use super::config::{FormatOverrides, parse_config, parse_draft_config};
use super::types::{Draft, Model};

/// A shipped configuration.
#[derive(Debug, Clone, Copy)]
pub struct PresetEntry {
    /// Its name.
    pub name: &'static str,
    /// Other names; a released model of the same shape counts as one.
    pub aliases: &'static [&'static str],
    /// Where the shape comes from, in a sentence for `explain presets`.
    pub source: &'static str,
    /// What is uncertain about it, for the user.
    note: Option<&'static str>,
    /// The `config.json`.
    json: &'static str,
}

impl PresetEntry {
    /// The `config.json`, to show or to start a file of one's own from.
    pub const fn json(&self) -> &'static str {
        self.json
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// What a user should know who asked for it by `name`.
    fn notes(&self, name: &str) -> Vec<String> {
        let alias = (self.name != name).then(|| format!("`{name}` has the shape of `{}`.", self.name));
        alias.into_iter().chain(self.note.map(str::to_owned)).collect()
    }
}

/// A target model by name or alias, read as a user's file would be.
///
/// # Panics
/// Never: a test reads every entry.
pub fn preset(name: &str) -> Option<Model> {
    let entry = data::MODELS.iter().find(|entry| entry.is_called(name))?;
    let mut model =
        parse_config(name, entry.json, FormatOverrides::default()).expect("a test reads every entry");
    model.notes.extend(entry.notes(name));
    Some(model)
}

/// A draft by name.
///
/// # Panics
/// Never: a test reads every entry.
pub fn draft_preset(name: &str) -> Option<Draft> {
    let entry = data::DRAFTS.iter().find(|entry| entry.is_called(name))?;
    Some(parse_draft_config(name, entry.json).expect("a test reads every entry"))
}

/// Every target model.
pub const fn preset_entries() -> &'static [PresetEntry] {
    data::MODELS
}

/// Every draft.
pub const fn draft_preset_entries() -> &'static [PresetEntry] {
    data::DRAFTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_read_under_each_of_its_names() {
        for entry in preset_entries() {
            for name in entry.aliases.iter().chain([&entry.name]) {
                let model = preset(name).unwrap_or_else(|| panic!("{name} is read"));
                assert_eq!(model.name, *name);
            }
        }
        for entry in draft_preset_entries() {
            assert!(draft_preset(entry.name).is_some(), "{}", entry.name);
        }
        assert_eq!(preset("no-such-model"), None);
    }

    #[test]
    fn names_are_unique_and_sources_given() {
        let mut names: Vec<&str> = Vec::new();
        for entry in preset_entries().iter().chain(draft_preset_entries()) {
            assert!(!entry.source.is_empty(), "{}", entry.name);
            names.extend(entry.aliases.iter().chain([&entry.name]));
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn an_alias_differs_in_name_and_notes_alone() {
        let (mut alias, original) =
            (preset("kimi-k2.6").expect("alias"), preset("kimi-k2.5").expect("preset"));
        assert_eq!(alias.notes, ["`kimi-k2.6` has the shape of `kimi-k2.5`."]);
        alias.notes.clear();
        original.name.clone_into(&mut alias.name);
        assert_eq!(alias, original);
    }

    #[test]
    fn presets_need_no_fallback() {
        for entry in preset_entries() {
            let model = preset(entry.name).expect("a preset");
            assert_eq!(
                model.notes.len(),
                usize::from(entry.note.is_some()),
                "{}: {:?}",
                entry.name,
                model.notes
            );
        }
    }
}

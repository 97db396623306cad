//! Why a box file cannot be used, in sentences that name the key.

use crate::units::ParseUnitError;

/// What is wrong with a box file. A `key` is written as the way to it: `topology.sockets[0][2].gpus`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HardwareError {
    /// A key that the file form does not have.
    #[error("unknown key `{key}`{}", hint(.closest.as_deref(), .known))]
    UnknownKey {
        /// The key.
        key: String,
        /// A key with a similar name.
        closest: Option<String>,
        /// The keys there are.
        known: String,
    },
    /// A key that must be there is not.
    #[error("`{key}` is missing: {takes}")]
    Missing {
        /// The key.
        key: String,
        /// What it takes.
        takes: &'static str,
    },
    /// A value of another kind.
    #[error("{} must be {takes}, not {found}", named(key))]
    WrongType {
        /// The key; empty for the file as a whole.
        key: String,
        /// What it takes.
        takes: &'static str,
        /// What stands there.
        found: String,
    },
    /// A word that the key does not take.
    #[error("`{key}` cannot be `{word}`{}", hint(.closest.as_deref(), .known))]
    UnknownWord {
        /// The key.
        key: String,
        /// As written.
        word: String,
        /// A word with a similar spelling.
        closest: Option<String>,
        /// The words there are.
        known: String,
    },
    /// The GPU is no preset.
    #[error("`{name}` is no GPU preset{}", hint(.closest.as_deref(), .known))]
    UnknownGpu {
        /// As written.
        name: String,
        /// A preset with a similar name.
        closest: Option<String>,
        /// The presets there are.
        known: String,
    },
    /// A value cannot be read as a quantity.
    #[error("`{key}`: {error}")]
    Quantity {
        /// The key.
        key: String,
        /// What is wrong.
        error: ParseUnitError,
    },
    /// A value lies outside what a machine can have.
    #[error("`{key}` is {found}, but must be {expected}")]
    Range {
        /// The key.
        key: String,
        /// As written.
        found: String,
        /// What would do.
        expected: String,
    },
    /// Keys that contradict each other or say nothing together.
    #[error("{0}")]
    Together(String),
    /// The topology holds another number of GPUs than `count` says.
    #[error("the topology holds {found} {}, but `count` says {count}", if *found == 1 { "GPU" } else { "GPUs" })]
    Count {
        /// GPUs in the topology.
        found: u32,
        /// GPUs by `count`.
        count: u32,
    },
}

fn named(key: &str) -> String {
    if key.is_empty() { "the box".to_owned() } else { format!("`{key}`") }
}

fn hint(closest: Option<&str>, known: &str) -> String {
    closest.map_or_else(|| format!("; known: {known}"), |near| format!("; did you mean `{near}`?"))
}

//! Why a `config.json` cannot be read.

/// A fault in a model configuration. Each names the field, so that a message can point at it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The text is no JSON, or an object holds a key twice.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong there, without the place.
        message: String,
    },
    /// The text is JSON, yet no object.
    #[error("a model configuration is a JSON object, this is {found}")]
    NotAnObject {
        /// What stands there.
        found: &'static str,
    },
    /// A field that the shape depends on is absent or null.
    #[error("`{field}` is missing: it is needed for {needed_for}")]
    Missing {
        /// The field, with its other names where it has some.
        field: String,
        /// What cannot be computed without it.
        needed_for: &'static str,
    },
    /// A field holds another kind of value.
    #[error("`{field}` must be {expected}, not {found}")]
    WrongType {
        /// The field.
        field: String,
        /// What it should hold.
        expected: &'static str,
        /// What it holds.
        found: String,
    },
    /// A field holds a number that no network has.
    #[error("`{field}` is {value}, but must be {rule}")]
    OutOfRange {
        /// The field.
        field: String,
        /// Its value.
        value: String,
        /// The rule it breaks.
        rule: String,
    },
    /// The quantisation cannot be turned into a storage width.
    #[error("quantisation `{method}` is unknown; name the stored width with `weights:` beside `config:`")]
    UnknownQuantisation {
        /// Method and widths as the file states them.
        method: String,
    },
}

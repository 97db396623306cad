//! A plan of settings as text, JSON, CSV and Markdown.

mod csv;
#[cfg(test)]
mod golden;
mod json;
mod markdown;
mod text;
mod words;

pub use csv::tune_csv;
pub use json::{TUNE_SCHEMA_VERSION, tune_json};
pub use markdown::tune_markdown;
pub use text::tune_text;

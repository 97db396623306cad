//! Simulations as text, JSON, CSV and Markdown.

mod csv;
mod json;
mod machine_text;
mod markdown;
mod serving_text;
mod words;

pub use csv::{machine_csv, serving_csv};
pub use json::{SIMULATION_SCHEMA_VERSION, machine_json, serving_json};
pub use machine_text::machine_text;
pub use markdown::{machine_markdown, serving_markdown};
pub use serving_text::serving_text;
pub use words::served_words;

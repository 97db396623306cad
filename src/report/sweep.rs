//! A sweep as rows for machines and as a summary for people.

mod rows;
mod summary;
mod table;

pub use rows::{sweep_columns, sweep_csv_header, sweep_csv_row, sweep_json_row, sweep_shard_line};
pub use summary::{sweep_markdown, sweep_text};

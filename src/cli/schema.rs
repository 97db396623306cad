//! `specplan schema`.

use std::io::Write as _;

use super::args::{SchemaArgs, SchemaOf};
use super::exit::Failure;
use crate::{report, scenario};

/// Prints a JSON Schema.
pub(super) fn run(args: &SchemaArgs) -> Result<(), Failure> {
    let text = match args.of {
        SchemaOf::Scenario => scenario::json_schema(),
        SchemaOf::Report => {
            serde_json::to_string_pretty(&report::json_schema()).expect("a JSON value becomes text")
        }
    };
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{}", text.trim_end())?;
    Ok(())
}

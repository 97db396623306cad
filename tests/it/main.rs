//! The integration tests, one binary.

mod agreement;
mod architecture;
mod command_line;
mod documents;
mod first_use;
mod import_serving;
mod importers;
mod machine;
mod reference_case;
mod simulate;
mod validation;

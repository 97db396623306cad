//! The integration tests, one binary.

mod architecture;
mod command_line;
mod documents;
mod first_use;
mod reference_case;
mod validation;

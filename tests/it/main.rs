//! The integration tests, one binary.

mod agreement;
mod architecture;
mod calibrate;
mod command_line;
mod documents;
mod first_use;
mod hostile;
mod import_contradictions;
mod import_serving;
mod importers;
mod machine;
mod reference;
mod reference_case;
mod simulate;
mod sweep;
mod tune;
mod uncertainty;
mod validation;

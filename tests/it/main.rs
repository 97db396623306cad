//! The integration tests, one binary.

mod agreement;
mod architecture;
mod documents;
mod machine;

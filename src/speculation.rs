//! Drafting and acceptance.

/// Distribution of accepted tokens.
#[derive(Debug, Clone, PartialEq)]
pub enum Acceptance {
    /// Conditional probability per position.
    Conditional(Vec<f64>),
}

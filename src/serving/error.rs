//! Why a simulation cannot start.

use thiserror::Error;

/// A setting that cannot be simulated.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ServingError {
    /// Something must be at least 1.
    #[error("{what} must be at least 1")]
    Zero {
        /// The setting.
        what: &'static str,
    },
    /// A number that must be positive and finite.
    #[error("{what} must be positive and finite, not {value}")]
    NotPositive {
        /// The setting.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// A spread that is none.
    #[error("the variation of {what} must be finite and not negative, not {value}")]
    Variation {
        /// The setting.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// One request's verify rows do not fit into a step.
    #[error("the {rows} rows that one request verifies do not fit the token budget of {budget}")]
    Budget {
        /// Rows per request.
        rows: u32,
        /// Tokens per step.
        budget: u32,
    },
    /// Arrivals or lengths shall come from a trace, but there is none.
    #[error("arrivals or lengths come from a trace, but no trace is given")]
    NoTrace,
    /// Arrivals go on for longer than simulated time does.
    #[error("the arrivals span {days:.0} days; at most 100 can be simulated")]
    Span {
        /// From the first to the last.
        days: f64,
    },
    /// The rows of a table of drafts are out of order.
    #[error("the rows of a draft table must start at batch 1 and rise")]
    DraftingOrder,
}

/// Refuses what is not positive and finite.
pub(super) fn positive(what: &'static str, value: f64) -> Result<(), ServingError> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(ServingError::NotPositive { what, value }) }
}

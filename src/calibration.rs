//! Measured tables and fits of one box.

/// A calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Preset name or path.
    pub name: String,
}

//! GPUs and what joins them.

use serde::{Deserialize, Serialize};

/// A box: one kind of GPU, their number, and the fabric between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hardware {
    /// Preset name or path.
    pub name: String,
    /// Number of GPUs.
    pub count: u32,
}

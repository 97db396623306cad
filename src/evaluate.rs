//! The one place that walks from a resolved setup to an answer.
//!
//! ```text
//!  ModelledSetup ─► Cycle (passes, priced) ────┐
//!                                             ├─► Known (each part: used, predicted) ─► Parts ─► Prediction
//!  stated times (given, observed) ────────────┘
//! ```
//!
//! Given and predicted figures stand side by side: a part that the user observed is used and the model's own
//! figure is kept beside it. In a variation (a what-if, `--set`, a scan) a part keeps the observed value as long
//! as none of its inputs changed, and is predicted otherwise.

mod answer;
mod breakdown;
mod diagnosis;
mod excess;
mod ground;
mod known;
mod levers;
mod passes;
mod scan;
mod study;
mod variation;

pub use answer::{Base, Variation, answer, evaluate, uncertainty, variation};
pub use ground::{Carried, Ground, Variant};
pub use known::{Known, KnownAllreduce};
pub use passes::{cycle, prefill, shape};
pub use scan::over_batch;
pub use study::Sureness;

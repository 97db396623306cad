//! Physical quantities as types, so that a time is never added to a size.
//!
//! Every quantity is a newtype over `f64` in one base unit: seconds, bytes, bytes per second, operations,
//! operations per second, tokens, tokens per second. Only operators with a meaning exist
//! (`Bytes / Bandwidth = Seconds`). People write the unit with the value (`30 ms`, `48 GB/s`); see [`Unit`].
//! GB = 10⁹ B and GiB = 2³⁰ B.

mod display;
mod quantity;
mod text;

pub use display::{ThreeFigures, significant};
pub use quantity::{AcceptLength, Bandwidth, Bytes, FlopRate, Flops, Seconds, Tokens, TokensPerSecond};
pub use text::{ParseUnitError, Quantity, Unit, Written};

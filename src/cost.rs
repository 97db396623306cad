//! From operations to times: measured tables first, fitted curves next, the roofline last.
//!
//! ```text
//!  ForwardPass ─► kernel ────────► roofline        PricedPass
//!   (ops)         module                              ▲
//!                 communication ─► collective         │
//!                      └─── one time an op ───► race of host and GPU
//! ```
//!
//! Every duration is rounded to a picosecond once, here, so that closed forms and simulation add the same numbers.

mod breakdown;
mod communication;
mod elastic;
mod kernel;
mod launch;
mod module;
mod pass;
mod price;
mod race;
mod roofline;
mod shared;
mod spread;

pub use breakdown::{PartTime, Share};
pub use communication::{OtherWay, collective, other_way};
pub use elastic::{Cause, Elastic, Scores};
pub use pass::{Bound, CollectiveTotal, Exchange, PricedBlock, PricedOp, PricedPass};
pub use price::{Pricing, price, price_experts};
pub use race::{Race, Stretch, race};
pub use roofline::{COMPUTE_EFFICIENCY, Cost, Demand, Roofline, demand};

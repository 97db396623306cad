//! From operations to times: measured tables first, fitted curves next, the roofline last.

mod pass;

pub use pass::{Bound, CollectiveTotal, PricedBlock, PricedOp, PricedPass};

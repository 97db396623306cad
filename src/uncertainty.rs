//! How sure an answer is: spreads of inputs carried through a function to its outputs.
//!
//! The function is a black box that takes a score for each input and gives the outputs. A score is a place in the
//! input's own distribution, counted in standard deviations of a standard normal law: 0 is its middle, ±1.645 are
//! the ends of the range that holds nine outcomes in ten. Whoever makes the function turns scores into values, so
//! that one input moves everything it enters at once, and inputs themselves are independent.
//!
//! ```text
//! scores z ~ N(0, 1) ─► function ─► outputs      monte_carlo   many draws: percentiles, probabilities
//!                                               first_order   each input at its ends: intervals, tornado
//!                                               sobol         shares of the variance of one output
//! counts of cycles ─► sequential                how many more until the verdict is sure
//! ```
//!
//! Every sample draws from its own xoshiro256++ stream, so results do not depend on the number of threads.
//! Left out: dependence between inputs (one physical cause must be one input), and errors of the function itself.

mod factor;
mod first_order;
mod monte_carlo;
mod normal;
mod result;
pub mod sequential;
mod sobol;
mod summary;

pub use factor::Factor;
pub use first_order::{Ends, FirstOrder, first_order};
pub use monte_carlo::{Samples, monte_carlo};
pub use normal::{normal_probability, normal_score};
pub use result::{Effect, MoreCycles, Outcome, Turn, Uncertainty};
pub use sobol::{Indices, sobol};
pub use summary::Summary;

#[cfg(test)]
mod tests;

//! Drafting and acceptance: how many tokens a draft/verify cycle yields, and what the cycle consists of.
//!
//! One vocabulary holds throughout. Of the drafted tokens of a cycle the first `n` are accepted, 0 ≤ n ≤ k, and
//! the target adds one token of its own, so the cycle yields L = n + 1 tokens. Every law of acceptance is known by
//! its tails S_i = P(n ≥ i):
//!
//! ```text
//! mean      E[L]   = 1 + Σ_{i=1..k} S_i
//! variance  Var[L] = Σ (2i - 1) S_i - (Σ S_i)²
//! pmf       P(n)   = S_n - S_{n+1}          (S_0 = 1, S_{k+1} = 0)
//! ```
//!
//! Left out: the last cycle of a request is cut at its token limit, which lowers the observed accept length by
//! about half the mean of n per request; the serving simulator cuts it, the closed forms do not.

mod acceptance;
mod beta;
mod beta_quantile;
mod cycle;
mod error;
mod fit;
mod fit_beta;
mod goodness;
mod interval;
mod markov;
mod mean_only;
mod mixture;
mod positions;
mod rejection;
mod sample;
mod shape;
mod tree;
mod tree_table;

pub use acceptance::{Acceptance, Geometric};
pub use beta::BetaRate;
pub use beta_quantile::{beta_quantile, student_quantile};
pub use cycle::{Cycle, DraftWork, HostWork};
pub use error::AcceptanceError;
pub use fit::{Counts, Estimate, Fits, GeometricFit, Recommended};
pub use fit_beta::BetaFit;
pub use goodness::{ChiSquare, chi_square};
pub use interval::{Interval, exact_interval, wilson_interval};
pub use markov::Markov;
pub use mean_only::{FloorCeil, MeanOnly, solve_rate};
pub use mixture::Mixture;
pub use positions::Positions;
pub use rejection::{Emitted, acceptance_rate, emitted_distribution, residual, verify_token};
pub use sample::RequestState;
pub use shape::{DraftShape, ShapeError, ShapeNote};
pub use tree::{DraftTree, TreeNode};
pub use tree_table::{TreeChoice, TreeTable};

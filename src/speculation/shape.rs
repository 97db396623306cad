//! The shape of a draft: how deep, how wide, how many rows are verified.

use std::fmt;

use thiserror::Error;

use crate::units::AcceptLength;

/// Draft steps, branches per step and verified rows, with SGLang's names and meanings
/// (`docs/advanced_features/speculative_decoding.md`); vLLM's `num_speculative_tokens` is `draft_tokens - 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DraftShape {
    /// Draft steps S.
    pub steps: u32,
    /// Branches per step T; 1 is a chain.
    pub topk: u32,
    /// Rows verified per request D, the root included.
    pub draft_tokens: u32,
}

/// Most rows per request, so that every answer stays quick; Sequoia ships trees of up to 512 nodes.
const MOST_ROWS: u32 = 1024;

/// Most steps of a tree, so that its recursion stays quick.
const MOST_TREE_STEPS: u32 = 64;

/// Why a shape cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ShapeError {
    /// Nothing would be verified.
    #[error("draft_tokens must be at least 1: the root is a row too")]
    NoRows,
    /// More than anything serves.
    #[error(
        "{draft_tokens} rows with {steps} steps are too many: at most {MOST_ROWS} rows, and {MOST_TREE_STEPS} \
         steps for a tree"
    )]
    TooLarge {
        /// Draft steps.
        steps: u32,
        /// Rows asked for.
        draft_tokens: u32,
    },
    /// Nothing would be drafted per step.
    #[error("topk must be at least 1")]
    NoBranches,
    /// A chain verifies what it drafted and the root.
    #[error("a chain of {steps} steps verifies {} rows, not {draft_tokens}", steps + 1)]
    ChainRows {
        /// Draft steps.
        steps: u32,
        /// Rows asked for.
        draft_tokens: u32,
    },
    /// The tree has fewer candidates than rows.
    #[error(
        "{steps} steps with topk {topk} offer {candidates} rows at most, root included, not {draft_tokens}"
    )]
    TreeRows {
        /// Draft steps.
        steps: u32,
        /// Branches per step.
        topk: u32,
        /// Rows asked for.
        draft_tokens: u32,
        /// Rows there are: 1 + T + (S-1)·T².
        candidates: u64,
    },
}

impl DraftShape {
    /// A chain of `drafted` tokens: k steps, k + 1 rows.
    pub const fn chain(drafted: u32) -> Self {
        Self { steps: drafted, topk: 1, draft_tokens: drafted + 1 }
    }

    /// Checked as SGLang checks it (`server_args.py`): a chain has `steps + 1` rows, a tree at most
    /// 1 + T + (S-1)·T² (each step expands the best T of T·T candidates).
    pub fn new(steps: u32, topk: u32, draft_tokens: u32) -> Result<Self, ShapeError> {
        if draft_tokens == 0 {
            return Err(ShapeError::NoRows);
        }
        if topk == 0 {
            return Err(ShapeError::NoBranches);
        }
        if draft_tokens > MOST_ROWS || topk > 1 && steps > MOST_TREE_STEPS {
            return Err(ShapeError::TooLarge { steps, draft_tokens });
        }
        if topk == 1 && u64::from(draft_tokens) != u64::from(steps) + 1 {
            return Err(ShapeError::ChainRows { steps, draft_tokens });
        }
        let branches = u64::from(topk);
        let candidates = match steps {
            0 => 1,
            _ => (1 + branches)
                .saturating_add(u64::from(steps - 1).saturating_mul(branches.saturating_mul(branches))),
        };
        if u64::from(draft_tokens) > candidates {
            return Err(ShapeError::TreeRows { steps, topk, draft_tokens, candidates });
        }
        Ok(Self { steps, topk, draft_tokens })
    }

    /// Longest drafted chain k: the steps, unless fewer rows are verified.
    pub const fn depth(self) -> u32 {
        let drafted = self.draft_tokens.saturating_sub(1);
        if self.steps < drafted { self.steps } else { drafted }
    }

    /// The most that one cycle can yield, k + 1.
    pub const fn accept_limit(self) -> AcceptLength {
        AcceptLength::new(self.depth() as f64 + 1.0)
    }

    /// Whether every step drafts one token.
    pub const fn is_chain(self) -> bool {
        self.topk <= 1
    }
}

/// What had to be supposed to answer for a shape other than the one that acceptance was stated for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ShapeNote {
    /// Deeper positions than the known ones took the last known conditional rate.
    Extended {
        /// Known positions.
        known: u32,
        /// Positions drafted.
        drafted: u32,
        /// The rate taken for the rest.
        rate: f64,
    },
    /// A mean was stated for one depth and carried to another by a geometric law.
    GeometricAssumed {
        /// Depth it was stated for.
        stated: u32,
        /// Positions drafted.
        drafted: u32,
        /// The rate at every position.
        rate: f64,
    },
    /// Nothing is accepted beyond a depth: a fixed tree or a scripted accept length goes no further.
    NothingBeyond {
        /// Depth of the last position that can be accepted.
        known: u32,
        /// Positions drafted.
        drafted: u32,
    },
}

impl fmt::Display for ShapeNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Extended { known, drafted, rate } => write!(
                f,
                "acceptance is known for {known} drafted tokens; token {} of {drafted} and later ones take the \
                 last conditional rate, {rate:.3}",
                known + 1
            ),
            Self::GeometricAssumed { stated, drafted, rate } => write!(
                f,
                "the accept length was stated for {stated} drafted tokens; for {drafted} the same rate is assumed \
                 at each position, {rate:.3}"
            ),
            Self::NothingBeyond { known, drafted } => {
                write!(
                    f,
                    "nothing beyond drafted token {known} is ever accepted, though {drafted} are drafted"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_that_sglang_refuses_are_errors() {
        assert_eq!(DraftShape::new(2, 1, 3), Ok(DraftShape::chain(2)));
        assert_eq!(DraftShape::new(3, 1, 3), Err(ShapeError::ChainRows { steps: 3, draft_tokens: 3 }));
        assert!(DraftShape::new(5, 4, 8).is_ok());
        assert_eq!(
            DraftShape::new(1, 4, 8),
            Err(ShapeError::TreeRows { steps: 1, topk: 4, draft_tokens: 8, candidates: 5 })
        );
        assert_eq!(DraftShape::new(2, 1, 0), Err(ShapeError::NoRows));
        assert_eq!(DraftShape::new(2, 0, 3), Err(ShapeError::NoBranches));
        assert!(DraftShape::new(64, u32::MAX, 1024).is_ok(), "no overflow");
        let huge = DraftShape::new(u32::MAX, u32::MAX, u32::MAX);
        assert!(huge.expect_err("too large").to_string().contains("at most 1024 rows"));
    }

    #[test]
    fn depth_is_the_longest_chain_that_is_verified() {
        assert_eq!(DraftShape::chain(2).depth(), 2);
        assert_eq!(DraftShape { steps: 5, topk: 4, draft_tokens: 8 }.depth(), 5);
        assert_eq!(DraftShape { steps: 9, topk: 4, draft_tokens: 4 }.depth(), 3);
        assert!((DraftShape::chain(3).accept_limit().get() - 4.0).abs() < 1e-15);
    }
}

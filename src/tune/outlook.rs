//! What an accept length that was stated for one depth says about another.
//!
//! Positions of a chain are accepted with conditional rates a_1, a_2, ..., which fall with depth or stay (EAGLE, arXiv
//! 2503.01840; every published table, up to noise). Of a mean L stated for k drafted tokens alone then follows:
//!
//! ```text
//! for k' > k:   L                 ≤  AL(k')  ≤  geometric with the mean L at k
//! for k' < k:   geometric         ≤  AL(k')  ≤  min(k' + 1, L)
//! ```
//!
//! since of all laws with falling rates the geometric one has the least in its first positions and the most beyond the
//! last. Known conditional rates leave no doubt up to their last; beyond it, between nothing more and the last rate. One rate,
//! or ranks of a tree, are taken as known down to the scenario's own depth.

//!
//! Settings are ranked by the lower end unless the caller says [`Beyond::Law`]: a longer chain then wins only where its
//! acceptance is known, and the lower end of a shorter one is the geometric law.

use crate::speculation::{Acceptance, DraftShape, ShapeNote};
use crate::units::AcceptLength;

/// What positions beyond the stated ones are taken to yield.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Beyond {
    /// Nothing more: the least that the statement leaves open.
    #[default]
    Least,
    /// What the law yields that was made of the statement: geometric, or the last known rate.
    Law,
}

/// An accept length with the range that what was stated leaves open.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    /// The value of the law that was made of the statement.
    pub mean: AcceptLength,
    /// The least that it can be.
    pub low: AcceptLength,
    /// The most that it can be.
    pub high: AcceptLength,
    /// What was assumed; none where nothing was.
    pub assumed: Option<String>,
}

impl Outlook {
    /// The accept length by which settings are ranked.
    pub fn used(&self, beyond: Beyond) -> AcceptLength {
        match beyond {
            Beyond::Least => self.low,
            Beyond::Law => self.mean,
        }
    }
}

/// The accept length of `shape` by `law`, which was stated for the shape `stated`, with what had to be assumed.
pub fn outlook(law: &Acceptance, stated: DraftShape, shape: DraftShape) -> Outlook {
    let mean = law.mean(shape);
    let exact = Outlook { mean, low: mean, high: mean, assumed: None };
    match law.note(shape) {
        None if shape.depth() > stated.depth() && !is_positional(law) => {
            let known = DraftShape { steps: stated.depth(), ..shape };
            Outlook { low: law.mean(known).min(mean), assumed: Some(same_beyond(stated, shape)), ..exact }
        }
        None | Some(ShapeNote::NothingBeyond { .. }) => exact,
        Some(note @ ShapeNote::Extended { known, .. }) => {
            let low = law.mean(DraftShape::chain(known)).min(mean);
            Outlook { low, assumed: Some(note.to_string()), ..exact }
        }
        Some(note @ ShapeNote::GeometricAssumed { stated, drafted, .. }) => {
            let known = law.mean(DraftShape::chain(stated));
            let (low, high) = if drafted > stated {
                (known.min(mean), mean)
            } else {
                (mean, known.min(AcceptLength::new(f64::from(drafted) + 1.0)).max(mean))
            };
            Outlook { mean, low, high, assumed: Some(note.to_string()) }
        }
    }
}

/// Whether the law says position by position how far it is known.
const fn is_positional(law: &Acceptance) -> bool {
    matches!(law, Acceptance::Conditional(_) | Acceptance::Histogram(_))
}

fn same_beyond(stated: DraftShape, shape: DraftShape) -> String {
    format!(
        "the scenario drafts {} deep; for {} the same rates are assumed at each further position, and measured ones fall",
        stated.depth(),
        shape.depth()
    )
}

#[cfg(test)]
#[path = "outlook_tests.rs"]
mod tests;

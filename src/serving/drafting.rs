//! How many tokens are drafted at which batch, and how many of them are accepted.

use super::error::ServingError;
use crate::des::Stream;
use crate::speculation::{Acceptance, DraftShape, RequestState};

/// No speculation: one row, no draft.
pub(super) const PLAIN: DraftShape = DraftShape::chain(0);

/// From a batch on, this draft; up to the next row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DraftingRow {
    /// Smallest number of decoding requests.
    pub from_batch: u32,
    /// The draft; none turns speculation off.
    pub shape: Option<DraftShape>,
}

/// Speculation of a replica: a law of acceptance, and a draft for each batch. While it is off, the state of a request whose
/// acceptance is correlated in time rests.
#[derive(Debug, Clone, PartialEq)]
pub struct Drafting {
    acceptance: Acceptance,
    rows: Vec<DraftingRow>,
}

impl Drafting {
    /// The same draft at every batch.
    pub fn fixed(acceptance: Acceptance, shape: DraftShape) -> Self {
        Self { acceptance, rows: vec![DraftingRow { from_batch: 1, shape: Some(shape) }] }
    }

    /// A draft by batch. The rows start at batch 1 and rise.
    pub fn by_batch(acceptance: Acceptance, rows: Vec<DraftingRow>) -> Result<Self, ServingError> {
        let starts = rows.first().is_some_and(|row| row.from_batch == 1);
        let rises = rows.windows(2).all(|pair| pair[0].from_batch < pair[1].from_batch);
        if starts && rises { Ok(Self { acceptance, rows }) } else { Err(ServingError::DraftingOrder) }
    }

    /// The law of acceptance.
    pub const fn acceptance(&self) -> &Acceptance {
        &self.acceptance
    }

    /// The drafts by batch.
    pub fn rows(&self) -> &[DraftingRow] {
        &self.rows
    }
}

/// A draft and its law, ready to draw.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) shape: DraftShape,
    pub(super) law: Law,
}

/// How the tokens of a cycle are drawn.
#[derive(Debug, Clone)]
pub(super) enum Law {
    /// Speculation is off: one token.
    Off,
    /// Cycles of a request are independent and alike.
    Alike(Tails),
    /// Requests differ, or remember.
    Kept(Acceptance),
}

/// The drafts of all batches.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    from: Vec<u32>,
    drafts: Vec<Draft>,
    /// What starts a request, where requests differ.
    start: Option<(Acceptance, DraftShape)>,
}

impl Plan {
    pub(super) fn new(drafting: Option<&Drafting>) -> Self {
        let Some(drafting) = drafting else {
            return Self { from: vec![0], drafts: vec![Draft { shape: PLAIN, law: Law::Off }], start: None };
        };
        let law = &drafting.acceptance;
        let differ = matches!(law, Acceptance::Mixture(_) | Acceptance::Beta(_) | Acceptance::Markov(_));
        let draft = |row: &DraftingRow| match row.shape {
            None => Draft { shape: PLAIN, law: Law::Off },
            Some(shape) => {
                let prepared = law.clone().with_shape(shape);
                let law = if differ {
                    Law::Kept(prepared)
                } else {
                    Law::Alike(Tails::new((1..=shape.depth()).map(|i| prepared.tail(i, shape))))
                };
                Draft { shape, law }
            }
        };
        let drafts: Vec<Draft> = drafting.rows.iter().map(draft).collect();
        let widest = drafts.iter().map(|draft| draft.shape).max_by_key(|shape| shape.depth());
        let start = widest.filter(|_| differ).map(|shape| (law.clone().with_shape(shape), shape));
        Self { from: drafting.rows.iter().map(|row| row.from_batch).collect(), drafts, start }
    }

    /// The draft for a number of decoding requests.
    #[inline]
    pub(super) fn at(&self, batch: u32) -> usize {
        // Few rows: a walk is quicker than a search.
        self.from.iter().skip(1).take_while(|from| **from <= batch).count()
    }

    #[inline]
    pub(super) fn draft(&self, index: usize) -> &Draft {
        &self.drafts[index]
    }

    /// Most rows that a request verifies.
    pub(super) fn most_rows(&self) -> u32 {
        self.drafts.iter().map(|draft| draft.shape.draft_tokens).max().unwrap_or(1)
    }

    /// Most tokens that a cycle can yield.
    pub(super) fn most_accepted(&self) -> u32 {
        self.drafts.iter().map(|draft| draft.shape.depth() + 1).max().unwrap_or(1)
    }

    /// What a new request keeps from cycle to cycle.
    pub(super) fn start(&self, stream: &mut Stream) -> Option<RequestState> {
        self.start.as_ref().map(|(law, shape)| law.start_request(*shape, stream.rng()))
    }
}

/// The tails S_1 ... S_k of a law, for quick draws.
#[derive(Debug, Clone)]
pub(super) struct Tails {
    /// The first four; 0, which no draw is below, where there are fewer.
    first: [f64; 4],
    rest: Vec<f64>,
}

impl Tails {
    fn new(mut tails: impl Iterator<Item = f64>) -> Self {
        let first = std::array::from_fn(|_| tails.next().unwrap_or(0.0));
        Self { first, rest: tails.collect() }
    }

    /// The accept length of a cycle, as [`Acceptance::sample`] draws it.
    #[inline]
    pub(super) fn draw(&self, stream: &mut Stream) -> u32 {
        let u = stream.uniform();
        // Tails never rise, so that all above u come first, and a count needs no branch.
        let above = |tails: &[f64]| tails.iter().map(|tail| u32::from(u < *tail)).sum::<u32>();
        let length = 1 + above(&self.first);
        if self.rest.is_empty() { length } else { length + above(&self.rest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::des::Streams;

    #[test]
    fn quick_draws_are_the_draws_of_the_law() {
        for drafted in [1, 3, 4, 7] {
            let shape = DraftShape::chain(drafted);
            let law = Acceptance::conditional(&[0.9, 0.8, 0.7, 0.8]).expect("valid");
            let plan = Plan::new(Some(&Drafting::fixed(law.clone(), shape)));
            let Law::Alike(tails) = &plan.draft(plan.at(5)).law else { panic!("cycles are alike") };
            let (mut a, mut b) = (Streams::new(1, 0).stream("x", 0), Streams::new(1, 0).stream("x", 0));
            for _ in 0..1000 {
                assert_eq!(tails.draw(&mut a), law.sample(shape, b.rng()));
            }
        }
    }

    #[test]
    fn drafts_follow_the_batch() {
        let law = Acceptance::geometric(0.6).expect("valid");
        let row = |from_batch, k: Option<u32>| DraftingRow { from_batch, shape: k.map(DraftShape::chain) };
        let rows = vec![row(1, Some(5)), row(8, Some(2)), row(33, None)];
        let plan = Plan::new(Some(&Drafting::by_batch(law.clone(), rows).expect("valid")));
        for (batch, drafted) in [(0, 5), (1, 5), (7, 5), (8, 2), (32, 2), (33, 0), (999, 0)] {
            assert_eq!(plan.draft(plan.at(batch)).shape, DraftShape::chain(drafted), "{batch}");
        }
        assert_eq!((plan.most_rows(), plan.most_accepted()), (6, 6));
        for rows in [vec![], vec![row(2, None)], vec![row(1, None), row(1, Some(2))]] {
            assert_eq!(Drafting::by_batch(law.clone(), rows), Err(ServingError::DraftingOrder));
        }
    }
}

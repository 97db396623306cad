//! The points of a sweep, numbered.

use crate::scenario::{Dimension, Points};

/// Points that a sweep may have.
pub const MOST_POINTS: u64 = 1_000_000_000;

/// Dimensions crossed with one another: point i has one place on each.
#[derive(Debug, Clone)]
pub struct Grid {
    dimensions: Vec<Dimension>,
    sizes: Vec<usize>,
    total: u64,
}

impl Grid {
    /// The grid of some dimensions; none where it has more than [`MOST_POINTS`].
    pub fn new(dimensions: Vec<Dimension>) -> Option<Self> {
        let sizes: Vec<usize> = dimensions.iter().map(Dimension::points).collect();
        let total = sizes.iter().try_fold(1_u64, |product, size| product.checked_mul(*size as u64))?;
        (total <= MOST_POINTS).then_some(Self { dimensions, sizes, total })
    }

    /// How many points.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// How many values each dimension has.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The dimensions, slowest first.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// All axes in order, each with the number of its dimension.
    pub fn axes(&self) -> impl Iterator<Item = (usize, &Points)> {
        let dimensions = self.dimensions.iter().enumerate();
        dimensions.flat_map(|(number, dimension)| dimension.axes.iter().map(move |axis| (number, axis)))
    }

    /// The place of a point on each dimension.
    pub fn place(&self, index: u64, place: &mut Vec<usize>) {
        place.clear();
        place.resize(self.sizes.len(), 0);
        let mut rest = index;
        for (at, size) in place.iter_mut().zip(&self.sizes).rev() {
            *at = (rest % *size as u64) as usize;
            rest /= *size as u64;
        }
    }

    /// How far apart two neighbours on a dimension are numbered.
    pub fn stride(&self, dimension: usize) -> u64 {
        self.sizes[dimension + 1..].iter().map(|size| *size as u64).product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::dimensions;

    #[test]
    fn the_last_dimension_varies_fastest() {
        let axes = ["workload.batch=1,2", "workload.context=10,20,30 & speculation.steps=1,2,3"];
        let grid = Grid::new(dimensions(&axes.map(str::to_owned), None).expect("axes")).expect("small");
        assert_eq!((grid.total(), grid.stride(0), grid.stride(1)), (6, 3, 1));
        let mut place = Vec::new();
        let mut all = Vec::new();
        for index in 0..grid.total() {
            grid.place(index, &mut place);
            all.push(place.clone());
        }
        assert_eq!(all, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        assert_eq!(grid.axes().map(|(dimension, _)| dimension).collect::<Vec<_>>(), [0, 1, 1]);
    }
}

//! Lines of equal value through a grid: marching squares with linear interpolation.

/// A place in the grid: column and row, with fractions.
pub(super) type GridPoint = (f64, f64);

/// Segments along which `values[row][column]` equals `level`. A square with a value that is not finite has none.
/// Where two opposite corners lie above the level (a saddle), the mean of the corners decides which are joined.
pub(super) fn contour(values: &[Vec<f64>], level: f64) -> Vec<[GridPoint; 2]> {
    let mut segments = vec![];
    for row in 0..values.len().saturating_sub(1) {
        let columns = values[row].len().min(values[row + 1].len());
        for column in 0..columns.saturating_sub(1) {
            let corners = [
                values[row][column],
                values[row][column + 1],
                values[row + 1][column + 1],
                values[row + 1][column],
            ];
            if corners.iter().all(|v| v.is_finite()) {
                let place = |(x, y): GridPoint| (column as f64 + x, row as f64 + y);
                segments.extend(square(corners, level).into_iter().map(|[a, b]| [place(a), place(b)]));
            }
        }
    }
    segments
}

/// Segments inside one square; corners in order around it from (0, 0).
fn square(corners: [f64; 4], level: f64) -> Vec<[GridPoint; 2]> {
    const PLACES: [GridPoint; 4] = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
    let above = corners.map(|v| v >= level);
    let crossing = |side: usize| {
        let (i, j) = (side, (side + 1) % 4);
        (above[i] != above[j]).then(|| {
            let share = (level - corners[i]) / (corners[j] - corners[i]);
            let (a, b) = (PLACES[i], PLACES[j]);
            (a.0 + (b.0 - a.0) * share, a.1 + (b.1 - a.1) * share)
        })
    };
    let crossings: Vec<GridPoint> = (0..4).filter_map(crossing).collect();
    match crossings[..] {
        [a, b] => vec![[a, b]],
        [a, b, c, d] => {
            let centre_above = corners.iter().sum::<f64>() / 4.0 >= level;
            if centre_above == above[0] { vec![[a, b], [c, d]] } else { vec![[d, a], [b, c]] }
        }
        _ => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::contour;

    #[test]
    fn a_plane_has_a_straight_contour() {
        let values: Vec<Vec<f64>> =
            (0..5).map(|r| (0..6).map(|c| f64::from(c) + 2.0 * f64::from(r)).collect()).collect();
        let segments = contour(&values, 4.5);
        assert!(!segments.is_empty());
        for (x, y) in segments.into_iter().flatten() {
            assert!((x + 2.0 * y - 4.5).abs() < 1e-12);
        }
    }

    #[test]
    fn a_saddle_has_two_lines_and_holes_have_none() {
        assert_eq!(contour(&[vec![1.0, 0.0], vec![0.0, 1.0]], 0.4).len(), 2);
        assert!(contour(&[vec![1.0, f64::NAN], vec![0.0, 1.0]], 0.4).is_empty());
        assert!(contour(&[vec![1.0, 1.0], vec![1.0, 1.0]], 0.4).is_empty());
    }
}

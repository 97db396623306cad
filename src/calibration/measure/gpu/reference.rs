//! What the kernels must compute, slowly and on the host, in float.

use half::bf16;

/// `out[rows][n] = x[rows][k] * w[n][k]^T`.
pub(super) fn project(x: &[f32], weights: &[f32], (n, k, rows): (usize, usize, usize)) -> Vec<f32> {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum();
    (0..rows * n).map(|i| dot(&x[i / n * k..][..k], &weights[i % n * k..][..k])).collect()
}

/// SiLU of the first half of each row times the second.
pub(super) fn silu_mul(x: &[f32], width: usize) -> Vec<f32> {
    let one = |row: &[f32], i: usize| row[i] / (1.0 + (-row[i]).exp()) * row[width + i];
    x.chunks(2 * width).flat_map(|row| (0..width).map(move |i| one(row, i))).collect()
}

/// RMS norm of each row, times the weight.
pub(super) fn rms_norm(x: &[f32], weight: &[f32]) -> Vec<f32> {
    x.chunks(weight.len())
        .flat_map(|row| {
            let scale = (row.iter().map(|x| x * x).sum::<f32>() / row.len() as f32 + 1e-6).sqrt().recip();
            row.iter().zip(weight).map(move |(x, w)| x * scale * w)
        })
        .collect()
}

/// Shape of an attention.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Requests.
    pub(super) batch: usize,
    /// Verified rows of each.
    pub(super) rows: usize,
    /// Query heads.
    pub(super) heads: usize,
    /// KV heads.
    pub(super) kv_heads: usize,
    /// Width of a query and key.
    pub(super) key: usize,
    /// Width of a value.
    pub(super) value: usize,
    /// Tokens in the cache of a request, the verified rows included: row r sees `context - rows + r + 1` of them.
    pub(super) context: usize,
}

/// Attention over caches in tokens x KV heads x (width of a line), of which a key or value is the first part.
pub(super) fn attention(
    shape: Shape,
    (q, keys, values): (&[f32], &[f32], &[f32]),
    (key_line, value_line): (usize, usize),
    scale: f32,
) -> Vec<f32> {
    let Shape { batch, rows, heads, kv_heads, key, value, context } = shape;
    let mut out = Vec::with_capacity(batch * rows * heads * value);
    for query in 0..batch * rows * heads {
        let (request, row, head) = (query / (rows * heads), query / heads % rows, query % heads);
        let line = |token: usize| (request * context + token) * kv_heads + head / (heads / kv_heads);
        let seen = context - rows + row + 1;
        let score = |token: usize| -> f32 {
            let pairs = q[query * key..][..key].iter().zip(&keys[line(token) * key_line..][..key]);
            pairs.map(|(a, b)| a * b).sum::<f32>() * scale
        };
        let scores: Vec<f32> = (0..seen).map(score).collect();
        let parts = Part::of(&scores, |token| &values[line(token) * value_line..][..value]);
        out.extend(parts.result());
    }
    out
}

/// A softmax over some of the tokens: its maximum, the sum of exponentials over it, and the sum of values so weighted.
/// What the parts of a split attention leave for one another.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    most: f32,
    total: f32,
    sum: Vec<f32>,
}

impl Part {
    /// Of the tokens of these scores.
    pub(super) fn of<'v>(scores: &[f32], value: impl Fn(usize) -> &'v [f32]) -> Self {
        let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut part = Self { most, total: 0.0, sum: vec![0.0; value(0).len()] };
        for (token, score) in scores.iter().enumerate() {
            let weight = (score - most).exp();
            part.total += weight;
            part.sum.iter_mut().zip(value(token)).for_each(|(sum, v)| *sum += weight * v);
        }
        part
    }

    /// The whole of two parts.
    #[cfg(test)]
    fn and(&self, other: &Self) -> Self {
        let most = self.most.max(other.most);
        let (a, b) = ((self.most - most).exp(), (other.most - most).exp());
        Self {
            most,
            total: a * self.total + b * other.total,
            sum: self.sum.iter().zip(&other.sum).map(|(x, y)| a * x + b * y).collect(),
        }
    }

    /// The output of the attention.
    pub(super) fn result(&self) -> impl Iterator<Item = f32> {
        self.sum.iter().map(|sum| sum / self.total)
    }
}

/// Rounded to bf16, as a kernel passes its result on.
pub(super) fn rounded(x: &[f32]) -> Vec<f32> {
    x.iter().map(|&x| bf16::from_f32(x).to_f32()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::random::{distance, floats, units};
    use super::*;

    #[test]
    fn a_split_softmax_is_the_whole() {
        let scores: Vec<f32> = floats(&units(90, 1)).iter().map(|x| 20.0 * x).collect();
        let values = floats(&units(90 * 4, 2));
        let part = |from: usize, to: usize| Part::of(&scores[from..to], |i| &values[(from + i) * 4..][..4]);
        let whole: Vec<f32> = part(0, 90).result().collect();
        let split: Vec<f32> = part(0, 7).and(&part(7, 50)).and(&part(50, 90)).result().collect();
        assert!(distance(&split, &whole) < 1e-5);
    }

    #[test]
    fn a_row_sees_itself_and_what_is_before() {
        let shape = Shape { batch: 1, rows: 2, heads: 1, kv_heads: 1, key: 1, value: 1, context: 3 };
        // Equal scores: the mean of the values seen, 2 tokens by the first row, 3 by the second.
        let out = attention(shape, (&[0.0, 0.0], &[1.0; 3], &[3.0, 5.0, 10.0]), (1, 1), 1.0);
        assert!((out[0] - 4.0).abs() < 1e-6 && (out[1] - 6.0).abs() < 1e-6);
    }

    #[test]
    fn projection_norm_and_activation_by_hand() {
        assert_eq!(project(&[1.0, 2.0], &[3.0, 4.0, 5.0, 6.0], (2, 2, 1)), [11.0, 17.0]);
        let norm = rms_norm(&[3.0, 4.0], &[1.0, 2.0]);
        assert!(
            (norm[0] - 3.0 / 12.5f32.sqrt()).abs() < 1e-5 && (norm[1] - 8.0 / 12.5f32.sqrt()).abs() < 1e-5
        );
        assert!((silu_mul(&[1.0, 2.0], 1)[0] - 2.0 / (1.0 + (-1.0f32).exp())).abs() < 1e-6);
    }
}

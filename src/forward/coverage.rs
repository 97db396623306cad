//! How many distinct experts a pass touches: it decides how many bytes a mixture of experts reads.
//!
//! ```text
//! one request     u_1 = K,  u_(t+1) = u_t + K(1-ρ)(1 - u_t/E)   =>   u_r = E - (E-K)(1 - K(1-ρ)/E)^(r-1)
//! B requests      E (1 - (1 - u_r/E)^B)
//! ```
//!
//! ρ is the share of experts that a row has in common with the row before it in the same sequence. Sources:
//! 0.38 for adjacent tokens of a production mixture on vLLM (Cohere); 26.3 of 512 experts for 4 verified rows
//! with 10 a token (public engineering log; the form gives 28.0). Requests are taken as independent, which fits
//! Kimi-K2.6 throughput over batch sizes. ρ = 0 is the uniform case N(t) = E(1-(1-K/E)^t) of MoESD
//! (arXiv 2505.19645). Range: any E ≥ K ≥ 1. Left out: siblings in a draft tree (unknown), skewed popularity of
//! experts, routing limited to groups.

/// How alike the experts of neighbouring rows are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpertOverlap {
    /// ρ between adjacent rows of one request, 0 to 1.
    pub within_request: f64,
}

impl ExpertOverlap {
    /// Rows that share nothing.
    pub const UNIFORM: Self = Self { within_request: 0.0 };

    /// The ends of the range of the default: 0.33 and 0.43.
    pub const RANGE: [Self; 2] = [Self { within_request: 0.33 }, Self { within_request: 0.43 }];
}

impl Default for ExpertOverlap {
    /// ρ = 0.38 ± 0.05.
    fn default() -> Self {
        Self { within_request: 0.38 }
    }
}

/// Expected distinct experts of `requests` requests with `rows` rows each; 0 where there are no rows.
pub fn distinct_experts(experts: u32, per_token: u32, requests: u32, rows: u32, rho: f64) -> f64 {
    if experts == 0 || requests == 0 || rows == 0 {
        return 0.0;
    }
    let (e, k) = (f64::from(experts), f64::from(per_token.min(experts)));
    let untouched = (1.0 - k / e) * power(1.0 - k * (1.0 - rho) / e, rows - 1);
    e * (1.0 - power(untouched, requests))
}

fn power(base: f64, exponent: u32) -> f64 {
    base.powi(i32::try_from(exponent).unwrap_or(i32::MAX))
}

/// Expected number of touched experts on the fullest of `ranks` ranks that hold E/`ranks` experts each, when
/// `distinct` experts of all E are touched, each as likely as another.
///
/// The counts per rank are independent binomials, conditioned on their sum; P(no count above m) follows from the
/// truncated binomials with a normal density for the sum. Within 2 % of the exact value for 128 experts and
/// more, 9 % for 8.
pub fn fullest_rank(experts: u32, ranks: u32, distinct: f64) -> f64 {
    let held = experts / ranks.max(1);
    let e = f64::from(experts);
    if ranks <= 1 || distinct >= e || held == 0 {
        return distinct.min(e);
    }
    let n = f64::from(ranks);
    let p = distinct / e;
    let variance = n * f64::from(held) * p * (1.0 - p);
    let (mut pmf, mut mass, mut first, mut second) = (power(1.0 - p, held), 0.0, 0.0, 0.0);
    let mut expected = 0.0;
    for m in 0..held {
        let count = f64::from(m);
        mass += pmf;
        first += pmf * count;
        second += pmf * count * count;
        if mass > 1.0 - 1e-9 {
            break;
        }
        expected += 1.0 - none_above(count, n, distinct, variance, [mass, first, second]);
        pmf *= (f64::from(held) - count) / (count + 1.0) * p / (1.0 - p);
    }
    expected
}

/// P(no rank has more than `limit` | the ranks have `distinct` together), from the moments of one rank's count
/// up to the limit.
fn none_above(limit: f64, ranks: f64, distinct: f64, variance: f64, moments: [f64; 3]) -> f64 {
    let [mass, first, second] = moments;
    if limit * ranks < distinct || mass <= 0.0 {
        return 0.0;
    }
    let mean = first / mass;
    let truncated = ranks * (second / mass - mean * mean);
    if truncated <= 1e-12 {
        return 0.0;
    }
    let off = distinct - ranks * mean;
    let density = (variance / truncated).sqrt() * (-0.5 * off * off / truncated).exp();
    (mass.powf(ranks) * density).min(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
        assert!((found - expected).abs() <= tolerance, "{what}: {found} instead of {expected}");
    }

    #[test]
    fn uniform_coverage_is_the_closed_form_of_moesd() {
        let models = [(384, 8), (256, 8), (128, 8), (512, 10), (128, 4), (32, 4), (160, 8), (8, 2)];
        for (rows, distinct) in [
            (2, [15.83, 15.75, 15.50, 19.80, 7.88, 7.50, 15.60, 3.50]),
            (3, [23.50, 23.26, 22.53, 29.42, 11.63, 10.56, 22.82, 4.62]),
            (4, [31.01, 30.53, 29.12, 38.84, 15.27, 13.24, 29.68, 5.47]),
            (8, [59.52, 57.42, 51.62, 74.74, 28.71, 21.00, 53.85, 7.20]),
            (16, [109.82, 101.96, 82.42, 138.57, 50.98, 28.22, 89.58, 7.92]),
            (64, [284.19, 222.44, 125.94, 367.11, 111.22, 31.99, 154.00, 8.00]),
        ] {
            for ((experts, per_token), expected) in models.into_iter().zip(distinct) {
                let what = format!("{rows} rows of {experts}/{per_token}");
                close(distinct_experts(experts, per_token, 1, rows, 0.0), expected, 0.0051, &what);
                close(distinct_experts(experts, per_token, rows, 1, 0.38), expected, 0.0051, &what);
            }
        }
    }

    #[test]
    fn rows_of_one_request_share_experts() {
        for (rows, kimi, qwen) in
            [(2, 12.86, 16.08), (3, 17.65, 22.08), (4, 22.38, 28.02), (8, 40.71, 51.04), (16, 74.62, 93.85)]
        {
            close(distinct_experts(384, 8, 1, rows, 0.38), kimi, 0.0051, "384/8");
            close(distinct_experts(512, 10, 1, rows, 0.38), qwen, 0.0051, "512/10");
        }
    }

    #[test]
    fn the_fullest_rank_agrees_with_exact_counting() {
        // Exact: coefficients of (sum over j <= m of C(g,j) x^j)^ranks over C(E, distinct).
        for (experts, ranks, distinct, exact) in [
            (384, 8, 8.0, 2.575),
            (384, 8, 24.0, 5.558),
            (384, 8, 31.0, 6.728),
            (384, 8, 110.0, 18.294),
            (384, 8, 350.0, 46.315),
            (256, 8, 57.0, 10.585),
            (128, 4, 15.0, 5.686),
            (512, 16, 39.0, 5.365),
        ] {
            let found = fullest_rank(experts, ranks, distinct);
            close(found / exact, 1.0, 0.02, &format!("{experts} on {ranks}, {distinct}"));
        }
        close(fullest_rank(8, 2, 4.0) / 2.514, 1.0, 0.09, "8 on 2");
    }

    #[test]
    fn expert_parallelism_reads_what_monte_carlo_says() {
        // 384/8 on 8 ranks at 1, 3, 4 independent rows.
        for (rows, expected) in [(1, 2.57), (3, 5.47), (4, 6.73)] {
            let distinct = distinct_experts(384, 8, rows, 1, 0.0);
            close(fullest_rank(384, 8, distinct) / expected, 1.0, 0.02, &format!("{rows} rows"));
        }
    }

    proptest! {
        #[test]
        fn coverage_grows_with_rows_and_stays_within_bounds(
            experts in 1_u32..1024, share in 1_u32..32, requests in 1_u32..64, rows in 1_u32..32, rho in 0.0..1.0_f64,
        ) {
            let per_token = share.min(experts);
            let one = distinct_experts(experts, per_token, requests, rows, rho);
            let more = distinct_experts(experts, per_token, requests, rows + 1, rho);
            prop_assert!(more >= one - 1e-9);
            prop_assert!(one >= f64::from(per_token) - 1e-9 && one <= f64::from(experts) + 1e-9);
            prop_assert!(one <= f64::from(per_token * requests * rows) + 1e-6);
        }

        #[test]
        fn the_fullest_rank_holds_between_the_mean_and_all(
            held in 4_u32..64, ranks in 1_u32..16, share in 0.01..1.0_f64,
        ) {
            let experts = held * ranks;
            let distinct = (f64::from(experts) * share).max(1.0);
            let found = fullest_rank(experts, ranks, distinct);
            prop_assert!(found >= distinct / f64::from(ranks) - 1e-6);
            prop_assert!(found <= distinct.min(f64::from(held)).max(1.0) + 1e-6);
        }
    }
}

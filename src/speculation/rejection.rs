//! Lossless verification of one drafted token.
//!
//! The drafter proposes x ~ q. The target accepts it with probability min(1, p(x)/q(x)); otherwise it draws from
//! norm(max(0, p - q)). What is emitted follows p exactly, and a token is accepted with probability Σ min(p, q).
//! Source: arXiv 2211.17192 and arXiv 2302.01318. The slices hold one probability per token and add up to 1.

use rand::{Rng, RngExt};

use super::mixture::pick;

/// The token that verification emits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emitted {
    /// Its index.
    pub token: usize,
    /// Whether it is the drafted one.
    pub accepted: bool,
}

/// The probability that a drafted token is accepted, Σ min(p, q).
pub fn acceptance_rate(target: &[f64], draft: &[f64]) -> f64 {
    target.iter().zip(draft).map(|(p, q)| p.min(*q)).sum()
}

/// norm(max(0, p - q)): where a rejected position draws its token from. None where p never exceeds q: then nothing
/// is ever rejected.
pub fn residual(target: &[f64], draft: &[f64]) -> Option<Vec<f64>> {
    let excess: Vec<f64> = target.iter().zip(draft).map(|(p, q)| (p - q).max(0.0)).collect();
    let sum: f64 = excess.iter().sum();
    (sum > 0.0).then(|| excess.iter().map(|x| x / sum).collect())
}

/// The exact distribution of the emitted token, from the rule itself; equal to `target`.
pub fn emitted_distribution(target: &[f64], draft: &[f64]) -> Vec<f64> {
    let rejected = 1.0 - acceptance_rate(target, draft);
    let residual = residual(target, draft).unwrap_or_else(|| vec![0.0; target.len()]);
    target.iter().zip(draft).zip(residual).map(|((p, q), r)| p.min(*q) + rejected * r).collect()
}

/// Verifies the drafted token `drafted`.
pub fn verify_token<R: Rng + ?Sized>(target: &[f64], draft: &[f64], drafted: usize, rng: &mut R) -> Emitted {
    let u: f64 = rng.random();
    if u * draft[drafted] < target[drafted] {
        return Emitted { token: drafted, accepted: true };
    }
    let excess = || target.iter().zip(draft).map(|(p, q)| (p - q).max(0.0));
    let sum: f64 = excess().sum();
    if sum <= 0.0 {
        return Emitted { token: drafted, accepted: true };
    }
    Emitted { token: pick(excess(), rng.random::<f64>() * sum), accepted: false }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::speculation::chi_square;

    const PAIRS: [(&[f64], &[f64]); 4] = [
        (&[0.5, 0.3, 0.2], &[0.2, 0.5, 0.3]),
        (&[0.7, 0.1, 0.1, 0.1], &[0.25, 0.25, 0.25, 0.25]),
        (&[0.4, 0.6, 0.0], &[0.3, 0.2, 0.5]),
        (&[0.25, 0.25, 0.5], &[0.25, 0.25, 0.5]),
    ];

    #[test]
    fn the_rule_emits_the_target_exactly() {
        for (target, draft) in PAIRS {
            for (emitted, p) in emitted_distribution(target, draft).iter().zip(target) {
                assert!((emitted - p).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn drawn_tokens_follow_the_target() {
        for (seed, (target, draft)) in (1..).zip(PAIRS) {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut counts = vec![0_u64; target.len()];
            let mut accepted = 0_u64;
            for _ in 0..100_000 {
                let drafted = pick(draft.iter().copied(), rng.random());
                let emitted = verify_token(target, draft, drafted, &mut rng);
                counts[emitted.token] += 1;
                accepted += u64::from(emitted.accepted);
            }
            let test = chi_square(&counts, target, 0).expect("enough counts");
            assert!(test.p_value > 0.01, "{test:?}");
            let rate = acceptance_rate(target, draft);
            let deviation = (rate * (1.0 - rate) / 1e5).sqrt();
            assert!((accepted as f64 / 1e5 - rate).abs() <= 3.5 * deviation, "{rate}");
        }
    }

    #[test]
    fn the_test_would_notice_a_wrong_rule() {
        // Emitting the drafted token always follows q, which the test must refuse.
        let (target, draft) = PAIRS[0];
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut counts = vec![0_u64; target.len()];
        for _ in 0..10_000 {
            counts[pick(draft.iter().copied(), rng.random())] += 1;
        }
        assert!(chi_square(&counts, target, 0).expect("enough counts").p_value < 1e-6);
    }
}

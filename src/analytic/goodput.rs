//! Goodput: accepted tokens per second, and the draft length that maximises it (arXiv 2406.14066).

use crate::speculation::{Acceptance, DraftShape};
use crate::units::{Seconds, Tokens, TokensPerSecond};

use super::leviathan::{BestLength, best_length_by};

/// B · AL(k) / cycle for chains of `drafted` tokens.
pub fn goodput(acceptance: &Acceptance, batch: u32, drafted: u32, cycle: Seconds) -> TokensPerSecond {
    let tokens = acceptance.mean(DraftShape::chain(drafted)).get() * f64::from(batch);
    Tokens::new(tokens) / cycle
}

/// The model of vLLM pull request 44336, in tokens per target step: AL(k) / (k·c + 1 + overhead), with c the
/// draft step over the target step. It has no term for rows: it drafts too much once B·(k + 1) rows leave the
/// memory-bound region. Kept to show what such a controller would choose.
pub fn goodput_without_rows(acceptance: &Acceptance, drafted: u32, draft_cost: f64, overhead: f64) -> f64 {
    let tokens = acceptance.mean(DraftShape::chain(drafted)).get();
    tokens / (f64::from(drafted) * draft_cost + 1.0 + overhead)
}

/// The chain of greatest speedup among 0 ... `most` drafted tokens, when a cycle that drafts k takes `cycle(k)`;
/// `cycle(0)` is the baseline step. The shorter one on ties.
pub fn best_chain(acceptance: &Acceptance, most: u32, cycle: impl Fn(u32) -> Seconds) -> BestLength {
    let step = cycle(0);
    best_length_by(most, |drafted| {
        acceptance.mean(DraftShape::chain(drafted)).get() / (cycle(drafted) / step)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytic::leviathan;

    #[test]
    fn a_flat_row_cost_is_the_classical_answer() {
        let law = Acceptance::geometric(0.8).expect("valid");
        let cycle = |k: u32| Seconds::from_ms(10.0 * (f64::from(k) * 0.05 + 1.0));
        let best = best_chain(&law, 40, cycle);
        assert_eq!(best.drafted, leviathan::best_length(0.8, 0.05, 40).drafted);
        let same = goodput_without_rows(&law, best.drafted, 0.05, 0.0);
        assert!((same - best.speedup).abs() < 1e-12);
        let rate = goodput(&law, 4, best.drafted, cycle(best.drafted)).get();
        assert!((rate - best.speedup * 400.0).abs() < 1e-9);
    }

    #[test]
    fn a_model_without_rows_drafts_too_much() {
        let law = Acceptance::geometric(0.7).expect("valid");
        let batch = 32.0;
        // 10 ms up to 64 rows, then 0.1 ms for each further one.
        let verify = |k: u32| 10.0 + 0.1 * (batch * (f64::from(k) + 1.0) - 64.0).max(0.0);
        let honest = best_chain(&law, 12, |k| Seconds::from_ms(verify(k) + 0.2 * f64::from(k)));
        let blind = best_chain(&law, 12, |k| Seconds::from_ms(10.0 + 0.2 * f64::from(k)));
        assert!(honest.drafted < blind.drafted, "{honest:?} {blind:?}");
    }
}

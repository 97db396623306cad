//! Speculation on mixture-of-experts models: the identities of MoESD (arXiv 2505.19645).
//!
//! They write accept length = σ(g + 1) and count B·g verified tokens; servers verify B·(g + 1) rows.
//! How many distinct experts the tokens of a pass touch is the forward pass's business.

use crate::units::{AcceptLength, Seconds};

/// Times of one cycle as the paper names them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// T_T(B, 1): one target step.
    pub target: Seconds,
    /// T_T(B, g): the target over the drafted tokens.
    pub verify: Seconds,
    /// T_D(B, 1): one draft step.
    pub draft: Seconds,
    /// T_rej: rejection sampling.
    pub reject: Seconds,
}

/// speedup = AL / (g·T_D/T_T(B,1) + T_T(B,g)/T_T(B,1) + T_rej/T_T(B,1)).
pub fn speedup(accept_length: AcceptLength, drafted: u32, times: &Times) -> f64 {
    let cycle = times.draft * f64::from(drafted) + times.verify + times.reject;
    accept_length.get() / (cycle / times.target)
}

/// Target efficiency T_T(B,1) / T_T(B,g): 1 where verifying costs one step.
pub fn target_efficiency(times: &Times) -> f64 {
    times.target / times.verify
}

/// Expected tokens per active expert of `tokens` independent tokens, each routed to `per_token` of `experts`:
/// ρt / (1 - (1-ρ)^t) with ρ = K/E; 1 for one token.
pub fn tokens_per_active_expert(experts: u32, per_token: u32, tokens: f64) -> f64 {
    let share = f64::from(per_token) / f64::from(experts);
    // 1 - (1-ρ)^t without cancellation for small ρ.
    share * tokens / -(tokens * (-share).ln_1p()).exp_m1()
}

/// Tokens from which on at least the share `coverage` of all experts is active: ⌈ln(1-τ) / ln(1-ρ)⌉, for
/// 0 < τ < 1 and K < E.
pub fn saturation_tokens(experts: u32, per_token: u32, coverage: f64) -> u32 {
    let share = f64::from(per_token) / f64::from(experts);
    ((-coverage).ln_1p() / (-share).ln_1p()).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saturation_of_known_models() {
        // 384/8, 256/8, 128/8 at 95 %.
        for (experts, tokens) in [(384, 143), (256, 95), (128, 47)] {
            assert_eq!(saturation_tokens(experts, 8, 0.95), tokens);
        }
    }

    #[test]
    fn tokens_per_expert_are_tokens_over_experts_touched() {
        assert!((tokens_per_active_expert(384, 8, 1.0) - 1.0).abs() < 1e-12);
        // 3 tokens of 384/8 touch 23.50 distinct experts: 24 / 23.50.
        assert!((tokens_per_active_expert(384, 8, 3.0) - 24.0 / 23.50).abs() < 1e-3);
        assert!((tokens_per_active_expert(8, 8, 5.0) - 5.0).abs() < 1e-12, "a dense layer sees every token");
    }

    #[test]
    fn the_identity_is_accept_length_over_ratio() {
        let ms = Seconds::from_ms;
        let times = Times { target: ms(12.0), verify: ms(15.0), draft: ms(0.5), reject: ms(0.5) };
        let speedup = speedup(AcceptLength::new(2.4), 3, &times);
        assert!((speedup - 2.4 / (17.0 / 12.0)).abs() < 1e-12);
        assert!((target_efficiency(&times) - 0.8).abs() < 1e-12);
        // With free drafting and sampling the speedup is AL times the target efficiency.
        let free = Times { draft: Seconds::ZERO, reject: Seconds::ZERO, ..times };
        assert!((super::speedup(AcceptLength::new(2.4), 3, &free) - 2.4 * 0.8).abs() < 1e-12);
    }
}

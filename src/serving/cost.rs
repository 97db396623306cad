//! How long a step takes.

use crate::des::SimTime;
use crate::speculation::DraftShape;
use crate::units::Seconds;

/// What one step of a replica computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Requests that decode, or draft and verify.
    pub decodes: u32,
    /// The draft of each of them; a chain of 0 drafted tokens (one row) without speculation.
    pub shape: DraftShape,
    /// Tokens in the KV cache of all requests that decode, before the step.
    pub decode_context: u64,
    /// Requests of which a part of the prompt is computed.
    pub prefills: u32,
    /// Prompt tokens computed.
    pub prefill_tokens: u32,
    /// Tokens of those prompts that earlier steps computed.
    pub prefill_context: u64,
}

impl Step {
    /// Rows verified per request, the root included; 1 without speculation.
    pub const fn rows(&self) -> u32 {
        self.shape.draft_tokens
    }

    /// Tokens that count against the budget: verified rows and prompt tokens.
    pub const fn tokens(&self) -> u64 {
        self.decodes as u64 * self.rows() as u64 + self.prefill_tokens as u64
    }

    /// Mean context of a request that decodes.
    pub fn mean_context(&self) -> f64 {
        if self.decodes == 0 { 0.0 } else { self.decode_context as f64 / f64::from(self.decodes) }
    }
}

/// Prices steps: draft, verify and host work of a cycle where requests speculate, the decode step where they do not,
/// and the prompt tokens beside them. Called once per step; any `Fn(&Step) -> SimTime` will do.
pub trait StepCost: Sync {
    /// The time from the start of the step to the delivery of its tokens.
    fn time(&self, step: &Step) -> SimTime;
}

impl<F: Fn(&Step) -> SimTime + Sync> StepCost for F {
    fn time(&self, step: &Step) -> SimTime {
        self(step)
    }
}

/// a + b · tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearCost {
    fixed: SimTime,
    per_token: SimTime,
}

impl LinearCost {
    /// From the time of an empty step and the time each token adds, both rounded to picoseconds.
    ///
    /// # Panics
    /// If one of them is negative or not finite.
    pub fn new(fixed: Seconds, per_token: Seconds) -> Self {
        Self { fixed: SimTime::from_seconds(fixed), per_token: SimTime::from_seconds(per_token) }
    }
}

impl StepCost for LinearCost {
    fn time(&self, step: &Step) -> SimTime {
        SimTime::from_ps(self.fixed.ps() + self.per_token.ps() * step.tokens())
    }
}

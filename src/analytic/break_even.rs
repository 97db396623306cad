//! What each lever would have to be for speculation to equal the baseline, the rest unchanged.
//!
//! ```text
//! accept length   ≥ (verify + d) / step                       d: draft and host; 0 in the draft-free column
//! verify          ≤ AL · step - d
//! one all-reduce  ≤ (AL · step - d - (verify - n · now)) / n
//! draft and host  ≤ AL · step - verify
//! ```
//!
//! The all-reduce lever supposes that the pass shortens with its all-reduces, as it does where the GPUs set the time. In
//! an eager pass that waits for its host only the booked time, waiting included, may stand here: faster transfers
//! would be waited for as well.

use crate::sourced::Sourced;
use crate::units::{AcceptLength, Seconds};

use super::parts::Parts;
use super::prediction::{BreakEven, BreakEvens, Lever};

/// A needed value with drafting and host work as they are, and if they cost nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair<T> {
    /// As they are.
    pub kept: T,
    /// If they cost nothing.
    pub draft_free: T,
}

/// The needed values as plain numbers, for sweeps. Times may come out negative and accept lengths above what a cycle
/// can yield: then the lever alone cannot do it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Needed {
    /// At least.
    pub accept_length: Pair<AcceptLength>,
    /// At most.
    pub verify: Pair<Seconds>,
    /// At most, for each all-reduce.
    pub allreduce: Option<Pair<Seconds>>,
    /// At most.
    pub draft_host: Seconds,
}

impl Parts {
    /// What a cycle may take at the present accept length: AL · baseline step.
    pub fn budget(&self) -> Seconds {
        self.accept_length.value.get() * self.baseline_step.value
    }

    /// The needed values as plain numbers.
    pub fn needed(&self) -> Needed {
        let (budget, step) = (self.budget(), self.baseline_step.value);
        let verify = Pair { kept: budget - self.draft_host.value, draft_free: budget };
        let length = |cycle: Seconds| AcceptLength::new(cycle / step);
        Needed {
            accept_length: Pair { kept: length(self.cycle_value()), draft_free: length(self.verify.value) },
            verify,
            allreduce: self.allreduce.filter(|ar| ar.count > 0).map(|ar| {
                let n = f64::from(ar.count);
                let each = |verify: Seconds| ar.each.value + (verify - self.verify.value) / n;
                Pair { kept: each(verify.kept), draft_free: each(verify.draft_free) }
            }),
            draft_host: budget - self.verify.value,
        }
    }

    /// Break-evens in the four closed-form levers, with sentences where there is none; the scanned ones are left empty.
    pub fn break_evens(&self) -> BreakEvens {
        let needed = self.needed();
        BreakEvens {
            accept_length: self.accept_length_lever(needed.accept_length),
            verify: self.verify_lever(needed.verify),
            allreduce: self.allreduce.zip(needed.allreduce).map(|(ar, pair)| {
                let rest = self.cycle_value() - ar.each.value * f64::from(ar.count);
                self.time_lever(ar.each, pair, || format!("all but the all-reduces takes {rest}"))
            }),
            draft_host: self.draft_host_lever(needed.draft_host),
            execution: Vec::new(),
            batch: Vec::new(),
            context: Vec::new(),
            draft_tokens: Vec::new(),
        }
    }

    fn accept_length_lever(&self, pair: Pair<AcceptLength>) -> Lever<AcceptLength> {
        let limit = AcceptLength::new(self.accept_limit);
        // A hair above the limit is rounding of the inputs' arithmetic.
        let possible = |length: AcceptLength| length.get() <= self.accept_limit * (1.0 + 1e-12);
        let (value, draft_free) =
            (Some(pair.kept).filter(|l| possible(*l)), Some(pair.draft_free).filter(|l| possible(*l)));
        let yields = || format!("one cycle yields at most {limit}");
        let (needed, note) = match (value, draft_free) {
            (None, None) => {
                let (kept, free) = (pair.kept, pair.draft_free);
                let because = format!("needs {kept} ({free} if drafting were free), {}", yields());
                (BreakEven::Unreachable { because }, None)
            }
            (None, _) => {
                (BreakEven::Reached { value, draft_free }, Some(format!("needs {}, {}", pair.kept, yields())))
            }
            (Some(length), _) => {
                let broken = (length.get() < 1.0).then(|| {
                    "below 1: a whole cycle is shorter than one baseline step, so any accept length wins"
                        .to_owned()
                });
                (BreakEven::Reached { value, draft_free }, broken)
            }
        };
        Lever {
            now: self.accept_length,
            needed,
            change: value.map(|v| (v - self.accept_length.value).get()),
            at_least: true,
            note,
        }
    }

    fn verify_lever(&self, pair: Pair<Seconds>) -> Lever<Seconds> {
        let step = self.baseline_step.value;
        let mut lever = self
            .time_lever(self.verify, pair, || format!("draft and host alone take {}", self.draft_host.value));
        if pair.kept > Seconds::ZERO && pair.kept < step {
            lever.note =
                Some(format!("shorter than one baseline step of {step}, though it reads the same weights"));
        }
        lever
    }

    /// A lever on a time inside the cycle; `rest` says what the cycle takes without it, where that is too much.
    fn time_lever(
        &self,
        now: Sourced<Seconds>,
        pair: Pair<Seconds>,
        rest: impl Fn() -> String,
    ) -> Lever<Seconds> {
        let positive = |t: Seconds| Some(t).filter(|t| *t > Seconds::ZERO);
        let (value, draft_free) = (positive(pair.kept), positive(pair.draft_free));
        let because = || {
            let length = self.accept_length.value;
            format!("{}; a cycle of {length} tokens may take {}", rest(), self.budget())
        };
        let (needed, note) = match (value, draft_free) {
            (None, None) => (BreakEven::Unreachable { because: because() }, None),
            (None, Some(_)) => (BreakEven::Reached { value, draft_free }, Some(because())),
            _ => (BreakEven::Reached { value, draft_free }, None),
        };
        Lever { now, needed, change: value.and_then(|v| relative(v, now.value)), at_least: false, note }
    }

    /// Reached: the value is the allowance, and the draft-free column has nothing to add.
    fn draft_host_lever(&self, allowance: Seconds) -> Lever<Seconds> {
        let value = Some(allowance).filter(|t| *t >= Seconds::ZERO);
        let needed = match value {
            Some(_) => BreakEven::Reached { value, draft_free: None },
            None => BreakEven::Unreachable { because: format!("verify alone > {}", self.budget()) },
        };
        let now = self.draft_host;
        Lever { now, needed, change: value.and_then(|v| relative(v, now.value)), at_least: false, note: None }
    }
}

/// (needed - now) / now; none from zero.
fn relative(needed: Seconds, now: Seconds) -> Option<f64> {
    (now > Seconds::ZERO).then(|| (needed - now) / now)
}

#[cfg(test)]
#[path = "break_even_tests.rs"]
mod tests;
